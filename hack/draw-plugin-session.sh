#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Writes what a terminal shows while every command of the plugin is typed into it, on a node with containers, as a page:
# hack/draw-plugin-session.sh <page>
# Needs tmux, and what "localcluster check" says. The commands are those of hack/plugin-session/session.txt.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

page=$(realpath "$1")
readonly DEADLINE_SECONDS=180 ELSEWHERE_SECONDS=20

# Not in TMPDIR: its path may be too long for the path of a socket.
dir=$(mktemp -d /tmp/mb-session-XXXXXX)
terminal() { tmux -S "${dir}/tmux" "$@"; }
stop() {
  terminal kill-server 2>/dev/null || true
  _output/bin/localcluster down --dir "${dir}" && rm -rf "${dir}"
}
trap stop EXIT
trap 'exit 130' INT TERM
_output/bin/localcluster up --dir "${dir}" --server _output/bin/modelbox-apiserver --artifacts artifacts --nodes 0 --container-node \
  --component pod-access --component pod-debugger
_output/bin/kubectl --kubeconfig="${dir}/kubeconfig" apply --filename=pkg/e2e/containers/testdata/metrics-server.yaml \
  --filename=pkg/e2e/containers/testdata/metrics-apiservice.yaml >/dev/null

# The title, which is not on the screen, is how many commands have ended, and the exit code of the last one.
cat >"${dir}/bashrc" <<'END'
PS1='$ '
PROMPT_COMMAND='printf "\033]2;%s %s\a" "$((++ended))" "$?"'
ended=-1
END
mkdir "${dir}/work"
cp hack/plugin-session/shop.yaml "${dir}/work"
terminal -f /dev/null new-session -d -x 130 -y 60 -c "${dir}/work" \
  env KUBECONFIG="${dir}/kubeconfig" PATH="${PWD}/_output/bin:${PATH}" NO_COLOR=1 bash --noprofile --rcfile "${dir}/bashrc"
terminal set-option -g history-limit 10000
terminal set-option -g scroll-on-clear off

screen() { terminal capture-pane -p -J -S -; }

fail() {
  echo "ERROR: $1; the terminal shows:" >&2
  screen >&2 || true
  exit 1
}

# await waits until a command succeeds.
await() { # description command...
  local what=$1 until=$((SECONDS + DEADLINE_SECONDS))
  shift
  until "$@"; do
    terminal has-session 2>/dev/null || fail "the shell has ended before ${what}"
    ((SECONDS < until)) || fail "waited ${DEADLINE_SECONDS} s for ${what}"
    read -rt 0.2 <> <(:) || true
  done
}
# has_ended succeeds when so many commands have ended. More cannot have: a key may have come when its command had ended.
has_ended() { # count
  local title
  title=$(terminal display-message -p '#{pane_title}')
  [[ "${title}" =~ ^([0-9]+)' '([0-9]+)$ ]] || return 1
  code=${BASH_REMATCH[2]}
  ((BASH_REMATCH[1] <= $1)) || fail "${BASH_REMATCH[1]} commands have ended, but $1 were typed"
  ((BASH_REMATCH[1] == $1))
}
is_cleared() { [[ "$(screen | tr -d '[:space:]')" == '$' ]]; }
shows() { screen | grep --quiet --null-data --extended-regexp -- "$1"; }
elsewhere() {
  KUBECONFIG="${dir}/kubeconfig" PATH="${PWD}/_output/bin:${PATH}" timeout "${ELSEWHERE_SECONDS}" bash -o pipefail -c "$1" >/dev/null 2>&1
}

# Lines of the session: "# text" becomes text of the page, "$ command" is typed and must succeed, or as "$1 command" end with that
# exit code, "? pattern" awaits it on the screen, "> text" is typed into what runs, "! keys" are pressed as tmux names them, and
# "% command" is tried elsewhere until it succeeds.
typed=0 code=
await "the first prompt" has_ended 0
fence() { # open or closed
  [[ "${fenced:-closed}" == "$1" ]] || printf '```\n'
  fenced=$1
}
finish() {
  [[ -n "${running:-}" ]] || return 0
  typed=$((typed + 1))
  await "the end of: ${running}" has_ended "${typed}"
  [[ "${code}" == "${wanted}" ]] || fail "exit code ${code} rather than ${wanted} of: ${running}"
  # All but the prompt that comes after it, and the empty lines below.
  screen | sed 's/ *$//' | sed -e :a -e '/^[[:space:]]*$/{$d;N;ba' -e '}' | sed '$d'
  running=
}
{
  while IFS= read -r line; do
    case "${line}" in
      '#' | '# '*)
        finish
        fence closed
        line=${line#\#}
        printf '%s\n' "${line# }"
        ;;
      '$'*)
        finish
        fence open
        wanted=${line%% *}
        wanted=${wanted#\$}
        wanted=${wanted:-0}
        running=${line#* }
        terminal send-keys C-l
        terminal clear-history
        await "an empty screen" is_cleared
        terminal send-keys -l "${running}"
        terminal send-keys Enter
        ;;
      '? '*) await "${line#\? } on the screen" shows "${line#\? }" ;;
      '! '*) terminal send-keys "${line#! }" ;;
      '> '*) terminal send-keys -l "${line#> }" && terminal send-keys Enter ;;
      '% '*)
        finish
        await "success of: ${line#% }" elsewhere "${line#% }"
        ;;
      *) fail "hack/plugin-session/session.txt has a line of no kind: ${line}" ;;
    esac
  done <hack/plugin-session/session.txt
  finish
  fence closed
} >"${dir}/page"
cp "${dir}/page" "${page}"
