// The task tools of one thread for the Vercel AI SDK: `generateText({ tools: await client.tools(), … })`.
import { createMCPClient } from '@ai-sdk/mcp';

export const taskClient = (service: string, thread: string) =>
  createMCPClient({
    transport: { type: 'http', url: `${service}/threads/${encodeURIComponent(thread)}/mcp` },
  });
