#!/usr/bin/env bash
# Follows a thread's list and prints each event, over any number of disconnections, without missing or repeating a change.
#
#   examples/watch.sh THREAD [URL]
#
# It needs nothing but curl. X_RESOURCE_ID says whose thread it is, if it is not the resource `default`.
set -euo pipefail

thread=${1:?usage: examples/watch.sh THREAD [URL]}
url=${2:-http://127.0.0.1:8080}
last_id=

# Reads one stream to its end, and remembers how far it came.
follow() {
  local line event=
  while IFS= read -r line; do
    case $line in
      event:*) event=${line#event: } ;;
      data:*) printf '%s %s\n' "$event" "${line#data: }" ;;
      id:*) last_id=${line#id: } ;;
    esac
  done
}

while :; do
  follow < <(
    curl --silent --show-error --no-buffer --fail-with-body \
      --header "X-Resource-Id: ${X_RESOURCE_ID:-default}" \
      ${last_id:+--header "Last-Event-ID: $last_id"} \
      "$url/threads/$thread/events"
  )
  sleep 1
done
