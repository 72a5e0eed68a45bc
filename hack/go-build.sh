#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds one program and shows the progress: hack/go-build.sh <module> <package> <output> [flag...]
# In a terminal it is a bar with the time that has passed and that is left, elsewhere a line for every tenth.
#
# The compiler collects garbage less often, which saves a tenth of the time, and takes more memory. To change it, set GOGC.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly BAR_WIDTH=30
readonly HUGE_PAGES=/sys/kernel/mm/transparent_hugepage/enabled
# From this number of packages on, a build takes minutes.
readonly MANY_PACKAGES=500

module=$1 package=$2 output=${PWD}/$3
shift 3

# duration prints seconds as 3m05s.
duration() { # seconds
  if (($1 < 60)); then printf '%ds' "$1"; else printf '%dm%02ds' $(($1 / 60)) $(($1 % 60)); fi
}

# show_progress reads what "go build -v" prints: the packages that it compiles, and errors.
show_progress() { # total
  local total=$1 done=0 tenth=0 line
  while IFS= read -r line; do
    if [[ ! "${line}" =~ ^[a-zA-Z0-9_./-]+$ ]]; then
      [[ ! -t 1 ]] || printf '\r\e[K'
      echo "${line}"
      continue
    fi
    ((done < total)) && done=$((done + 1))
    if [[ -t 1 ]]; then
      draw_bar "${done}" "${total}"
    elif ((done * 10 / total > tenth)); then
      tenth=$((done * 10 / total))
      echo "  $(count "${done}" "${total}")"
    fi
  done
  [[ ! -t 1 ]] || printf '\r\e[K'
}

draw_bar() { # done total
  local full=$(($1 * BAR_WIDTH / $2)) bar
  printf -v bar '%*s' "${full}" ''
  printf '\r\e[K  [%-*s] %s' "${BAR_WIDTH}" "${bar// /#}" "$(count "$1" "$2")"
}

count() { # done total
  local elapsed=$((SECONDS - started))
  printf '%d of %d packages, %s' "$1" "$2" "$(duration "${elapsed}")"
  (($1 == $2)) || printf ', about %s left' "$(duration $((elapsed * ($2 - $1) / $1)))"
}

echo "building ${output#"${PWD}/"}"
cd "${module}"
# What is not in the build cache is compiled. The last step, which is linking, is not counted.
total=$(go list -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "$@" "${package}" | grep --count . || true)
((total > 0)) || total=1
if ((total >= MANY_PACKAGES)) && grep --quiet --no-messages --invert-match '\[always\]' "${HUGE_PAGES}"; then
  echo "  this takes less time with huge pages: see docs/development.md#faster-builds"
fi
started=${SECONDS}
GOGC=${GOGC:-400} go build -v "$@" -o "${output}" "${package}" 2>&1 | show_progress "${total}"
echo "  done in $(duration $((SECONDS - started)))"
