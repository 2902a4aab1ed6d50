// One Mastra client for all threads: each call goes to the thread and the resource of its request context, under a key of
// its own, so that a call that the client repeats after a lost connection is done once.
import { MCPClient, type MastraFetchLike } from '@mastra/mcp';
import { MASTRA_RESOURCE_ID_KEY, MASTRA_THREAD_ID_KEY } from '@mastra/core/request-context';

const withThread: MastraFetchLike = (url, init, context) => {
  const headers = new Headers(init?.headers);
  const thread = context?.get(MASTRA_THREAD_ID_KEY) as string | undefined;
  const resource = context?.get(MASTRA_RESOURCE_ID_KEY) as string | undefined;
  if (thread) headers.set('X-Thread-Id', encodeURIComponent(thread));
  if (resource) headers.set('X-Resource-Id', encodeURIComponent(resource));
  return fetch(url, { ...init, headers });
};

export const taskClient = (service: string) =>
  new MCPClient({ servers: { tasks: { url: new URL('/mcp?thread=header', service), fetch: withThread } } });

export async function taskToolsOfAllThreads(client: MCPClient) {
  const tools = await client.listTools();
  for (const tool of Object.values(tools)) {
    const execute = tool.execute!;
    tool.execute = (input, context) => {
      const key = context?.agent?.toolCallId ?? crypto.randomUUID();
      return execute(input, { ...context, _meta: { ...context?._meta, 'io.tasklane/idempotency-key': key } } as typeof context);
    };
  }
  return tools;
}
