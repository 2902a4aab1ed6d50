// What the clients' checks share: where the service is, threads of their own, and what is stored there.
import assert from 'node:assert/strict';

export const service = process.env.TASKLANE_URL!;

let threads = 0;
/** A thread that no other check knows, with an id that has to be escaped. */
export const newThread = (client: string) => `${client} ${process.pid}/${(threads += 1)}`;

/** The tasks that are stored in a thread. */
export async function stored(thread: string, resource = 'default') {
  const answer = await fetch(`${service}/threads/${encodeURIComponent(thread)}/tasks`, {
    headers: { 'X-Resource-Id': resource },
  });
  assert.equal(answer.status, 200);
  return (await answer.json()).tasks as { id: string; content: string; status: string }[];
}

export const task = (content: string, status = 'pending') => ({ content, status, activeForm: `Doing ${content}` });

/** What each client does with Mastra's tools on two threads: list, call, fail, recover. */
export async function exercise(
  client: string,
  connect: (thread: string) => Promise<{
    names: string[];
    call: (tool: string, input: object) => Promise<{ text: string; tasks?: { id: string; status: string }[] }>;
    close: () => Promise<unknown>;
  }>,
) {
  const [one, two] = [newThread(client), newThread(client)];
  const [first, second] = [await connect(one), await connect(two)];
  for (const { names } of [first, second]) {
    assert.deepEqual(names.map((name) => name.replace(/^tasks_/, '')).sort(), [
      'task_check', 'task_complete', 'task_update', 'task_write',
    ]);
  }
  await first.call('task_write', { tasks: [task('a'), task('b')] });
  await second.call('task_write', { tasks: [task('c')] });
  const failed = await first.call('task_complete', { id: 'task_c' });
  assert.match(failed.text, /task_a/, 'a refusal names the ids there are');
  if (failed.tasks) assert.equal(failed.tasks.length, 2, 'a refusal shows the list');
  const done = await first.call('task_complete', { id: 'task_a' });
  assert.match(done.text, /task_a/);
  assert.deepEqual((await stored(one)).map(({ id, status }) => [id, status]), [
    ['task_a', 'completed'], ['task_b', 'pending'],
  ]);
  assert.deepEqual((await stored(two)).map(({ id, status }) => [id, status]), [['task_c', 'pending']]);
  await first.close();
  await second.close();
  console.log(`${client}: listed, called, failed and recovered on two threads`);
}
