// Makes a Postman collection of openapi.yaml and lets newman send every request of it, with the document's examples. What
// is answered has to be documented: its status and its media type.
//
// usage: check_postman.mjs URL OPENAPI_YAML, with the packages' folder in PACKAGES
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(`${process.env.PACKAGES}/`)
const { SchemaPack } = require('openapi-to-postmanv2')
const newman = require('newman')

const [url, file] = process.argv.slice(2)
const document = await (await fetch(`${url}/openapi.json`)).json()

// By method and path, as a collection's requests are found.
const operations = new Map()
for (const [path, item] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(item)) {
    operations.set(`${method.toUpperCase()} ${path}`, operation)
  }
}

function operationOf(request) {
  const path = request.url.path.map(part => (part.startsWith(':') ? `{${part.slice(1)}}` : part)).join('/')
  const operation = operations.get(`${request.method} /${path}`)
  assert.ok(operation, `the document has no ${request.method} /${path}`)
  return operation
}

function resolved(response) {
  return response?.$ref ? document.components.responses[response.$ref.split('/').at(-1)] : response
}

const isStream = operation => 'text/event-stream' in (operation.responses['200']?.content ?? {})

function converted() {
  const options = { folderStrategy: 'Tags', parametersResolution: 'Example' }
  return new Promise((resolve, reject) => {
    const pack = new SchemaPack({ type: 'string', data: readFileSync(file, 'utf8') }, options)
    pack.validated || reject(new Error('the document is not valid'))
    pack.convertV2((error, result) => {
      if (error || !result.result) reject(error ?? new Error(result.reason))
      else resolve(result.output[0].data)
    })
  })
}

const collection = await converted()
const requests = collection.item.flatMap(folder => folder.item ?? [folder])
assert.deepEqual(
  requests.map(({ request }) => operationOf(request).operationId).sort(),
  [...operations.values()].map(operation => operation.operationId).sort(),
  'the collection has every operation once',
)
// newman waits for the end of an answer, and a stream has none.
const streams = requests.filter(({ request }) => isStream(operationOf(request)))
for (const folder of collection.item) folder.item = folder.item?.filter(item => !streams.includes(item))

// Sends the requests of some folders of the collection.
function run(item) {
  return new Promise((resolve, reject) => {
    newman.run({ collection: { ...collection, item }, timeoutRequest: 30_000 }, (error, summary) => {
      if (error) reject(error)
      else resolve(summary.run)
    })
  })
}

function checkAnswer(what, operation, status, type) {
  const response = resolved(operation.responses[String(status)])
  assert.ok(status < 500, `${what}: ${status}`)
  assert.ok(response, `${what}: ${status} is not documented`)
  const types = Object.keys(response.content ?? {})
  const isDocumented = types.length === 0 ? type === undefined : types.includes(type)
  assert.ok(isDocumented, `${what}: ${status} with ${type} is not documented`)
}

const mediaType = value => value?.split(';')[0].trim() || undefined

async function checkRun(state, items, mayFail) {
  const { executions, failures } = await run(items)
  assert.deepEqual(failures.map(failure => `${failure.source?.name}: ${failure.error}`), [], state)
  return executions.map(({ item, response }) => {
    const operation = operationOf(item.toJSON().request)
    const id = operation.operationId
    assert.ok(response, `${state}: ${id} was not answered`)
    checkAnswer(`${state}: ${id}`, operation, response.code, mediaType(response.headers.get('content-type')))
    const isRefused = response.code >= 400
    assert.ok(!isRefused || mayFail(id), `${state}: ${id} was answered with ${response.code}: ${response.text()}`)
    return `${id} ${response.code}`
  })
}

const thread = `${url}/threads/thread-1`

// Gives the thread of the examples the task of the examples alone, whatever was done to it. It is not deleted, since that
// would leave nothing to restore.
async function prepare() {
  const task = { id: 'task_write_the_report', content: 'Write the report', status: 'pending', activeForm: 'Writing' }
  await fetch(`${thread}/tasks`, { method: 'DELETE' })
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ tasks: [task] })
  const { status } = await fetch(`${thread}/tasks`, { method: 'PUT', headers, body })
  assert.equal(status, 200, 'the preparation')
}

async function checkStream({ request }) {
  const operation = operationOf(request)
  let path = request.url.path.join('/')
  for (const { key, value } of request.url.variable) path = path.replace(`:${key}`, encodeURIComponent(value))
  const query = new URLSearchParams(request.url.query.map(({ key, value }) => [key, value]))
  const headers = Object.fromEntries(request.header.map(({ key, value }) => [key, value]))
  const stop = AbortSignal.timeout(10_000)
  const answer = await fetch(`${url}/${path}?${query}`, { headers, signal: stop })
  checkAnswer(operation.operationId, operation, answer.status, mediaType(answer.headers.get('content-type')))
  assert.equal(answer.status, 200, operation.operationId)
  const reader = answer.body.getReader()
  const { value } = await reader.read()
  assert.match(new TextDecoder().decode(value), /^(event|id|data|retry|:)/, `${operation.operationId} sends events`)
  await reader.cancel()
  console.log(`stream: ${operation.operationId} ${answer.status}`)
}

const report = (state, answers) => {
  assert.equal(answers.length, requests.length - streams.length, `${state}: every request was sent`)
  console.log(`${state}: ${answers.join(', ')}`)
}

let state = 'with the task of the examples'
const answers = []
for (const item of requests.filter(item => !streams.includes(item))) {
  await prepare()
  // The lease token of the example cannot be one that was given out.
  answers.push(...(await checkRun(state, [item], id => id === 'task_heartbeat')))
}
report(state, answers)
for (const stream of streams) await checkStream(stream)

await fetch(thread, { method: 'DELETE' })
state = 'with nothing there'
report(state, await checkRun(state, collection.item, () => true))
