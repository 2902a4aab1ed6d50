// Puts the task list into the context before each turn, as Mastra's own TaskStateProcessor does for its own list:
// `new Agent({ inputProcessors: [new TaskListProcessor(url)], … })`.
import type { Processor, ProcessInputArgs } from '@mastra/core/processors';
import { MASTRA_RESOURCE_ID_KEY, MASTRA_THREAD_ID_KEY } from '@mastra/core/request-context';

export class TaskListProcessor implements Processor {
  readonly id = 'task-list';
  private readonly service: string;

  constructor(service: string) {
    this.service = service;
  }

  async processInput({ messages, systemMessages, requestContext }: ProcessInputArgs) {
    const thread = requestContext?.get(MASTRA_THREAD_ID_KEY) as string | undefined;
    if (!thread) return messages;
    const resource = (requestContext?.get(MASTRA_RESOURCE_ID_KEY) as string | undefined) ?? 'default';
    const answer = await fetch(new URL(`/threads/${encodeURIComponent(thread)}/signal?maxBytes=8000`, this.service), {
      headers: { 'X-Resource-Id': encodeURIComponent(resource) },
    });
    if (!answer.ok) throw new Error(`the task list cannot be read: ${answer.status}`);
    const signal = await answer.json();
    if (signal.mode === 'none') return messages;
    const content = `<${signal.tagName}>\n${signal.contents}\n</${signal.tagName}>`;
    return { messages, systemMessages: [...systemMessages, { role: 'system' as const, content }] };
  }
}
