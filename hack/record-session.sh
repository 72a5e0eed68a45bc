#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Types the commands of a session into a terminal, on a node with containers, and writes what the terminal shows as a page:
# hack/record-session.sh <session> <page> [lines of the terminal]
# Needs tmux, and what "localcluster check" says.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

session=$1 page=$(realpath "$2") lines=${3:-60}
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
mkdir "${dir}/work" "${dir}/home"
cp hack/sessions/*.yaml "${dir}/work"
ln -s "${PWD}/artifacts" "${dir}/work"
terminal -f /dev/null new-session -d -x 130 -y "${lines}" -c "${dir}/work" \
  env --unset=XDG_CONFIG_HOME HOME="${dir}/home" KUBECONFIG="${dir}/kubeconfig" PATH="${PWD}/_output/bin:${PATH}" NO_COLOR=1 \
  bash --noprofile --rcfile "${dir}/bashrc"
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
# exit code, "? pattern" awaits it on the screen, "> text" is typed into what runs, "! keys" are pressed as tmux names them, "@ text"
# becomes text and the screen of a program that runs, and "% command" is tried elsewhere until it succeeds.
typed=0 code= recorded=
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
  # All but the prompt that comes after it. The screens of a program are in the page already.
  [[ -n "${recorded}" ]] || screen | trim | sed '$d'
  running= recorded=
}
# trim removes the empty lines below the text.
trim() { sed 's/ *$//' | sed -e :a -e '/^[[:space:]]*$/{$d;N;ba' -e '}'; }
# record_screen prints the text, and the screen of the program that runs, the first time with its command.
record_screen() { # text
  [[ -n "${recorded}" ]] || printf '$ %s\n' "${running}"
  fence closed
  printf '\n%s\n\n' "$1"
  fence open
  terminal capture-pane -p | trim
  recorded=yes
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
      '@ '*) record_screen "${line#@ }" ;;
      '? '*) await "${line#\? } on the screen" shows "${line#\? }" ;;
      '! '*) terminal send-keys "${line#! }" ;;
      '> '*) terminal send-keys -l "${line#> }" && terminal send-keys Enter ;;
      '% '*)
        # A program whose screen is recorded runs until a key ends it.
        [[ -n "${recorded}" ]] || finish
        await "success of: ${line#% }" elsewhere "${line#% }"
        ;;
      *) fail "${session} has a line of no kind: ${line}" ;;
    esac
  done <"${session}"
  finish
  fence closed
} >"${dir}/page"
cp "${dir}/page" "${page}"
