-- What wrk sends. Arguments: operation, prefix of the threads, number of threads, tasks of a list, a salt that no other run has.
--
-- Every change is one: it sets an active form that was never there before.

local machines = 0

function setup(machine)
  machine:set("machine", machines)
  machines = machines + 1
end

local operation, prefix, threads, tasks, salt
local count = 0
local json = {["Content-Type"] = "application/json"}
local minimal = {["Content-Type"] = "application/json", ["Prefer"] = "return=minimal"}
local list = {}

function init(args)
  operation, prefix, salt = args[1], args[2], args[5]
  threads, tasks = tonumber(args[3]), tonumber(args[4])
  math.randomseed(machine * 7919 + tonumber(salt))
  for at = 1, tasks do
    list[at] = string.format(
      '{"id":"task_%d","content":"Do the step number %d of the job","status":"%s","activeForm":"Doing the step number %d"}',
      at, at, at == 1 and "in_progress" or at % 3 == 0 and "completed" or "pending", at)
  end
end

local function thread()
  return prefix .. math.random(threads)
end

local function news()
  count = count + 1
  return string.format("Doing it again, %s-%d-%d", salt, machine, count)
end

local function tool(name, at, body)
  return wrk.format("POST", "/threads/" .. at .. "/tools/" .. name, json, body)
end

local requests = {}

function requests.task_check()
  return tool("task_check", thread(), "{}")
end

function requests.task_update()
  local body = string.format('{"id":"task_%d","activeForm":"%s"}', math.random(tasks), news())
  return tool("task_update", thread(), body)
end

function requests.task_write()
  local at = math.random(tasks)
  local kept = list[at]
  list[at] = string.format(
    '{"id":"task_%d","content":"Do the step number %d of the job","status":"pending","activeForm":"%s"}', at, at, news())
  local body = '{"tasks":[' .. table.concat(list, ",") .. "]}"
  list[at] = kept
  return tool("task_write", thread(), body)
end

-- Ten tasks in each thread, then a new thread.
function requests.TaskCreate()
  local body = string.format('{"subject":"%s","description":"What there is to say about it."}', news())
  return tool("TaskCreate", string.format("new-%s-%d-%d", salt, machine, math.floor(count / 10)), body)
end

function requests.get()
  return wrk.format("GET", "/threads/" .. thread() .. "/tasks")
end

function requests.patch()
  local path = string.format("/threads/%s/tasks/task_%d", thread(), math.random(tasks))
  return wrk.format("PATCH", path, json, string.format('{"activeForm":"%s"}', news()))
end

function requests.patch_minimal()
  local path = string.format("/threads/%s/tasks/task_%d", thread(), math.random(tasks))
  return wrk.format("PATCH", path, minimal, string.format('{"activeForm":"%s"}', news()))
end

function request()
  return requests[operation]()
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"answers":%d,"microseconds":%d,"p50_us":%d,"p99_us":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
