import { Client } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as PreviousClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as PreviousTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { exercise, service } from './lib.ts';

const url = (thread: string) => new URL(`/threads/${encodeURIComponent(thread)}/mcp`, service);

const edge = async (client: any, transport: any) => {
  await client.connect(transport);
  return {
    names: (await client.listTools()).tools.map((tool: { name: string }) => tool.name),
    call: async (tool: string, input: object) => {
      const result = await client.callTool({ name: tool, arguments: input });
      return { text: result.content[0].text, tasks: result.structuredContent.tasks };
    },
    close: () => client.close(),
  };
};

const info = { name: 'check', version: '1' };
for (const mode of ['auto', 'legacy'] as const) {
  await exercise(`@modelcontextprotocol/client ${mode}`, (thread) =>
    edge(new Client(info, { versionNegotiation: { mode } }), new StreamableHTTPClientTransport(url(thread))),
  );
}
await exercise('@modelcontextprotocol/sdk', (thread) => edge(new PreviousClient(info), new PreviousTransport(url(thread))));
