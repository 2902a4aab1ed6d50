// The task tools of one thread for a Mastra agent: `new Agent({ tools: await taskTools(url, thread).listTools(), … })`.
// Leave Mastra's own task tools and its TaskStateProcessor out: there must be one list.
import { MCPClient } from '@mastra/mcp';

export const taskTools = (service: string, thread: string) =>
  new MCPClient({
    id: `tasks of ${thread}`,
    servers: { tasks: { url: new URL(`/threads/${encodeURIComponent(thread)}/mcp`, service) } },
  });
