#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs two commands side by side: hack/test-beside.sh <command> <background command>
# The background command gets only the processor time that the other command leaves. The script fails if one of them fails.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

lowest_priority=(nice -n 19)
if command -v chrt >/dev/null; then lowest_priority=(chrt --idle 0); fi

status=0
"${lowest_priority[@]}" bash -c "$2" &
background=$!
trap 'kill "${background}" 2>/dev/null || true' EXIT
bash -c "$1" || status=1
wait "${background}" || status=1
trap - EXIT
exit "${status}"
