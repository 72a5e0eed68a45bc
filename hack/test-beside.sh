#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs two commands side by side: hack/test-beside.sh <command> <background command> [<niceness>]
# The background command gets only the processor time that the other command leaves, or with a niceness, less of it than the other
# command. The script fails if one of them fails.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -n "${3:-}" ]]; then
  priority=(nice -n "$3")
elif command -v chrt >/dev/null; then
  priority=(chrt --idle 0)
else
  priority=(nice -n 19)
fi

status=0
"${priority[@]}" bash -c "$2" &
background=$!
trap 'kill "${background}" 2>/dev/null || true' EXIT
bash -c "$1" || status=1
wait "${background}" || status=1
trap - EXIT
exit "${status}"
