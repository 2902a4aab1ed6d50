// Reads the export for Vercel's AI SDK with its own functions, and compiles every schema with ajv, offline.
//
// usage: node tool_exports.mjs FOLDER, which holds <format>.json for every format
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// The packages lie in a cache, not beside this script.
const require = createRequire(join(process.env.PACKAGES, 'package.json'));
const { jsonSchema, tool } = await import(pathToFileURL(require.resolve('ai')));
const Ajv = require('ajv');
const Ajv2020 = require('ajv/dist/2020');

const tools = (format) => JSON.parse(readFileSync(join(process.argv[2], `${format}.json`), 'utf8')).tools;

const compiled = (validator, schema, what) => {
  // Strict: an unknown keyword or format is a mistake and not a remark.
  const validate = validator.compile(schema);
  if (typeof validate !== 'function') throw new Error(`${what} does not compile`);
  return validate;
};

for (const { name, description, inputSchema } of tools('vercel')) {
  const made = tool({ description, inputSchema: jsonSchema(inputSchema) });
  if (!made.inputSchema.jsonSchema) throw new Error(`${name} has no schema`);
  const validate = compiled(new Ajv({ strict: true, allErrors: true }), inputSchema, name);
  const example = JSON.parse(description.split('\n\nExample: ')[1]);
  if (!validate(example)) throw new Error(`${name}: its own example is invalid: ${JSON.stringify(validate.errors)}`);
  if (validate({ ...example, madeUp: 1 })) throw new Error(`${name} is not closed`);
}
console.log('ok: vercel');

for (const { name, inputSchema, outputSchema } of tools('mcp')) {
  compiled(new Ajv2020({ strict: true, allErrors: true }), inputSchema, name);
  compiled(new Ajv2020({ strict: true, allErrors: true }), outputSchema, name);
}
console.log('ok: mcp');
