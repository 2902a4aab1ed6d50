# shellcheck shell=bash
# Sourced, after common.sh: a private, throw-away PostgreSQL on loopback.
#
#   postgres_start fsync=off|on [SETTING=VALUE…]
#                                 starts it, installing PostgreSQL first if there is none; sets PGBIN, POSTGRES_DIR,
#                                 POSTGRES_PORT and POSTGRES_URL
#   postgres_stop                 stops and removes it; does nothing where none was started
#
# With fsync=off nothing is forced to disk: enough for a test, wrong for figures.

PGBIN=
POSTGRES_DIR=
POSTGRES_PORT=
POSTGRES_URL=

_postgres_find() {
  local bin
  while read -r bin; do
    if [[ -x $bin/initdb && -x $bin/pg_ctl && -x $bin/postgres ]]; then
      PGBIN=$bin
      return 0
    fi
  done < <(
    pg_config --bindir 2>/dev/null
    printf '%s\n' /usr/lib/postgresql/*/bin | sort --version-sort --reverse
    dirname "$(command -v initdb || printf '/')"
  )
  return 1
}

# PostgreSQL refuses to run as root.
_postgres_as_user() {
  if ((EUID != 0)); then
    "$@"
  else
    (cd / && runuser -u "$(_postgres_user)" -- "$@")
  fi
}

_postgres_user() {
  if id postgres >/dev/null 2>&1; then
    printf 'postgres\n'
  else
    printf 'nobody\n'
  fi
}

postgres_start() {
  local settings='-c fsync=off -c full_page_writes=off' name attempt
  [[ $1 != fsync=on ]] || settings=
  shift
  for name in max_connections=200 "$@"; do
    settings+=" -c $name"
  done

  # Settings for some other server must not reach this one's clients.
  for name in "${!PG@}"; do
    [[ $name == PGBIN ]] || unset "$name"
  done

  if ! _postgres_find; then
    apt_install postgresql
    _postgres_find || die "PostgreSQL was installed, but there is no initdb"
  fi

  POSTGRES_DIR=$(mktemp -d -t tasklane-postgres.XXXXXX)
  ((EUID != 0)) || chown "$(_postgres_user)" "$POSTGRES_DIR"
  _postgres_as_user "$PGBIN/initdb" --pgdata="$POSTGRES_DIR/data" --username=postgres --auth=trust --encoding=UTF8 \
    --locale=C --no-sync >"$POSTGRES_DIR/initdb.log" 2>&1 || {
    cat "$POSTGRES_DIR/initdb.log" >&2
    die "initdb failed"
  }

  # Another process may take the port before the server does.
  for attempt in 1 2 3 4 5; do
    POSTGRES_PORT=$(free_port)
    if _postgres_as_user "$PGBIN/pg_ctl" start --wait --timeout=60 --silent --pgdata="$POSTGRES_DIR/data" \
      --log="$POSTGRES_DIR/server.log" --options="-c listen_addresses=127.0.0.1 -c port=$POSTGRES_PORT \
        -c unix_socket_directories=$POSTGRES_DIR $settings" >/dev/null 2>&1; then
      # shellcheck disable=SC2034 # for the scripts that source this
      POSTGRES_URL=postgres://postgres@127.0.0.1:$POSTGRES_PORT/postgres
      heading "$("$PGBIN/postgres" --version) on port $POSTGRES_PORT"
      return 0
    fi
    printf 'warning: PostgreSQL did not start on port %s (%s of 5)\n' "$POSTGRES_PORT" "$attempt" >&2
  done
  tail -n 20 "$POSTGRES_DIR/server.log" >&2
  die "PostgreSQL did not start"
}

postgres_stop() {
  [[ -n $POSTGRES_DIR ]] || return 0
  if [[ -f $POSTGRES_DIR/data/postmaster.pid ]]; then
    # Nothing of it is kept, so it need not close in order.
    _postgres_as_user "$PGBIN/pg_ctl" stop --wait --mode=immediate --silent --pgdata="$POSTGRES_DIR/data" || true
  fi
  rm -rf "$POSTGRES_DIR"
  POSTGRES_DIR=
}
