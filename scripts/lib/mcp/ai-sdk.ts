import { exercise, service } from './lib.ts';
import { taskClient } from '../examples/ai-sdk.ts';

await exercise('ai-sdk', async (thread) => {
  const client = await taskClient(service, thread);
  const tools = (await client.tools()) as Record<string, any>;
  return {
    names: Object.keys(tools),
    call: async (tool, input) => {
      const result = await tools[tool].execute(input, { toolCallId: '1', messages: [] });
      return { text: result.content[0].text, tasks: result.structuredContent.tasks };
    },
    close: () => client.close(),
  };
});
