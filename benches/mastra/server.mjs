// Mastra's own task tools on their own PostgreSQL storage, behind a bare HTTP server:
// POST /threads/<thread>/tools/<tool>, the body is the arguments.
//
// Variables: DATABASE_URL, PORT, and PACKAGES, the folder that node_modules is in.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const packages = createRequire(`${process.env.PACKAGES}/package.json`);
const load = async (name) => import(pathToFileURL(packages.resolve(name)).href);
const { TaskSignalProvider } = await load("@mastra/core/signals");
const { RequestContext } = await load("@mastra/core/request-context");
const { PostgresStore } = await load("@mastra/pg");

const storage = new PostgresStore({ id: "bench", connectionString: process.env.DATABASE_URL });
await storage.init();
const tools = new TaskSignalProvider().getTools();
const mastra = { getStorage: () => storage };

async function call(thread, name, body) {
  const context = { mastra, agent: { threadId: thread, resourceId: "default" }, requestContext: new RequestContext() };
  return tools[name].execute(JSON.parse(body), context);
}

createServer((request, response) => {
  const [, , thread, , name] = request.url.split("/");
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", async () => {
    let status = 200;
    let answer;
    try {
      answer = await call(thread, name, Buffer.concat(parts).toString());
      if (answer.isError) status = 409;
    } catch (error) {
      status = 500;
      answer = { error: String(error) };
    }
    const text = JSON.stringify(answer);
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    response.end(text);
  });
}).listen(Number(process.env.PORT), "127.0.0.1", () => console.log("ready"));
