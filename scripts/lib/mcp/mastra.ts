// Mastra's client inside a real agent, whose model is a script: what it would call is given, what it gets is looked at.
import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import { MASTRA_RESOURCE_ID_KEY, MASTRA_THREAD_ID_KEY, RequestContext } from '@mastra/core/request-context';
import { taskTools } from '../examples/mastra.ts';
import { taskClient, taskToolsOfAllThreads } from '../examples/mastra-all-threads.ts';
import { TaskListProcessor } from '../examples/mastra-signal.ts';
import { exercise, newThread, service, stored, task } from './lib.ts';

type ToolCall = { tool: string; input: object };

/** A model that makes these tool calls, one step after the other, and remembers what it was sent. */
function scripted(steps: ToolCall[][]) {
  const prompts: any[] = [];
  const parts = () => {
    const calls = steps[prompts.length - 1] ?? [];
    return calls.map(({ tool, input }, at) => ({
      type: 'tool-call' as const, toolCallId: `call-${prompts.length}-${at}`, toolName: tool, input: JSON.stringify(input),
    }));
  };
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const model = {
    specificationVersion: 'v2' as const, provider: 'script', modelId: 'script', supportedUrls: {},
    async doGenerate({ prompt }: any): Promise<any> {
      prompts.push(prompt);
      const calls = parts();
      const content = calls.length ? calls : [{ type: 'text', text: 'done' }];
      return { content, finishReason: calls.length ? 'tool-calls' : 'stop', usage, warnings: [] };
    },
    async doStream({ prompt }: any): Promise<any> {
      prompts.push(prompt);
      const calls = parts();
      const text = [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'done' }, { type: 'text-end', id: 't' }];
      const chunks = [
        { type: 'stream-start', warnings: [] },
        ...(calls.length ? calls : text),
        { type: 'finish', finishReason: calls.length ? 'tool-calls' : 'stop', usage },
      ];
      return { stream: ReadableStream.from(chunks) };
    },
  };
  return { model, prompts };
}

/** Lets an agent with these tools follow the script; returns what its model saw and what the tools returned. */
async function turn(tools: any, steps: ToolCall[][], options: { context?: RequestContext; processors?: any[] } = {}) {
  const { model, prompts } = scripted(steps);
  const agent = new Agent({
    id: 'worker', name: 'worker', instructions: 'Work.', model: model as any, tools, inputProcessors: options.processors,
  });
  const output = await agent.stream('go', { requestContext: options.context, maxSteps: steps.length + 1 });
  await output.consumeStream();
  const seen = prompts.at(-1).flatMap((message: any) => (message.role === 'tool' ? message.content : []));
  const results = (await output.steps).flatMap((step: any) => step.toolResults).map((chunk: any) => chunk.payload.result);
  return { prompts, seen: seen.map((part: any) => part.output.value), results };
}

await exercise('@mastra/mcp', async (thread) => {
  const client = taskTools(service, thread);
  const tools: any = await client.listTools();
  return {
    names: Object.keys(tools),
    call: async (tool, input) => {
      const { seen, results } = await turn(tools, [[{ tool: `tasks_${tool}`, input }]]);
      assert.equal(seen.length, 1);
      return { text: JSON.stringify(seen[0]), tasks: results[0].tasks };
    },
    close: () => client.disconnect(),
  };
});

// One step with three parallel completions, twenty times: nothing that was acknowledged is lost.
let kept = 0;
for (let round = 0; round < 20; round += 1) {
  const thread = newThread('parallel');
  const client = taskTools(service, thread);
  const tools = await client.listTools();
  const write = { tool: 'tasks_task_write', input: { tasks: ['a', 'b', 'c'].map((content) => task(content)) } };
  const complete = ['a', 'b', 'c'].map((content) => ({ tool: 'tasks_task_complete', input: { id: `task_${content}` } }));
  const { results } = await turn(tools, [[write], complete]);
  results.slice(-3).forEach((result: any, at: number) => assert.equal(result.tasks[at].status, 'completed'));
  kept += (await stored(thread)).filter(({ status }) => status === 'completed').length;
  await client.disconnect();
}
assert.equal(kept, 60);
console.log(`@mastra/mcp: ${kept} of 60 parallel completions are stored`);

// One client for all threads: the thread and the resource come from the request context, each call has a key of its own.
const contextOf = (thread: string, resource: string) => {
  const context = new RequestContext();
  context.set(MASTRA_THREAD_ID_KEY, thread);
  context.set(MASTRA_RESOURCE_ID_KEY, resource);
  return context;
};
const shared = taskClient(service);
const sharedTools = await taskToolsOfAllThreads(shared);
const threads = [newThread('shared'), newThread('shared')];
await Promise.all(
  threads.map(async (thread) => {
    const write = { tool: 'tasks_task_write', input: { tasks: [task(thread)] } };
    await turn(sharedTools, [[write]], { context: contextOf(thread, 'ada') });
    assert.deepEqual((await stored(thread, 'ada')).map(({ content }) => content), [thread]);
    assert.deepEqual(await stored(thread, 'bob'), []);
  }),
);
const { results: [lost] } = await turn(sharedTools, [[{ tool: 'tasks_task_check', input: {} }]]);
assert.equal(lost.isError, true, 'a call without a thread is refused');
console.log('@mastra/mcp: one client serves all threads');

// The same call repeated under its key is done once, as after a lost connection.
const repeated = newThread('repeated');
const keyed = (await taskToolsOfAllThreads(shared)).tasks_task_write as any;
const context = { agent: { toolCallId: 'call-1' }, requestContext: contextOf(repeated, 'ada') };
const [before, again] = [
  await keyed.execute({ tasks: [task('x')] }, context),
  await keyed.execute({ tasks: [task('x')] }, context),
];
assert.deepEqual(again, before, 'the answer to a repeated call is the first one');
await shared.disconnect();
console.log('@mastra/mcp: a repeated call is done once');

if ((await fetch(`${service}/threads/x/signal`)).status !== 404) {
  const { prompts } = await turn({}, [], { context: contextOf(threads[0]!, 'ada'), processors: [new TaskListProcessor(service)] });
  assert.match(JSON.stringify(prompts[0]), /current-task-list/);
  console.log('@mastra/mcp: the processor puts the list into the context');
}
process.exit(0);
