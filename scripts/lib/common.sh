# shellcheck shell=bash
# Sourced by the scripts of the folder above: progress, errors, packages, ports and children.

heading() {
  printf '==> %s\n' "$*"
}

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Installs Debian packages, as root or with sudo.
apt_install() {
  command -v apt-get >/dev/null || die "$* is missing, and there is no apt-get to install it with: install it by hand"
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "$* is missing: run this as root, or install sudo or $* by hand"
    as_root=(sudo)
    # Without a terminal nobody could answer a question for the password.
    [[ -t 0 ]] || as_root=(sudo --non-interactive)
  fi
  heading "installing $*"
  # One source that does not answer is no reason to give up: the package may come from another.
  "${as_root[@]}" apt-get update -qq || printf 'warning: apt-get update failed\n' >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" >/dev/null ||
    die "apt-get could not install $*"
}

# Prints a loopback port that nothing listens on. It lies below the range from which the kernel takes the ports of
# outgoing connections.
free_port() {
  local port
  while :; do
    port=$((RANDOM % 20000 + 10000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      printf '%s\n' "$port"
      return
    fi
  done
}

running=

# Runs a command so that a signal to the script ends the command as well. Bash runs no trap while it waits for a
# command in the foreground; and in a process group of its own the command can be ended with all its children.
run() {
  local status=0
  set -m
  "$@" </dev/null &
  running=$!
  set +m
  wait "$running" || status=$?
  running=
  return "$status"
}

# Ends what `run` still runs; for the traps.
end_running() {
  [[ -n $running ]] || return 0
  kill -TERM -- "-$running" 2>/dev/null || true
  wait "$running" 2>/dev/null || true
  running=
}

# Calls the given function however the script ends.
on_exit() {
  # shellcheck disable=SC2064 # the function's name is meant to be put in now
  trap "$1" EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}
