#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs simulated clusters, each with another seed, on all processors: hack/test-universe.sh [duration]
# The default is half an hour. MODELBOX_UNIVERSE_SEED is the first seed; without it, each run has other seeds.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

duration=${1:-30m}
first=${MODELBOX_UNIVERSE_SEED:-$(date +%s)}
# No processor runs so many seeds that it comes to those of the next one.
distance=1000000
test=$(pwd)/_output/tools/universe.test

(cd hack/universe && go test -c -o "${test}" .)
pids=()
for ((i = 0; i < $(getconf _NPROCESSORS_ONLN); i++)); do
  MODELBOX_UNIVERSE_SEED=$((first + i * distance)) MODELBOX_UNIVERSE_DURATION=${duration} \
    "${test}" -test.run '^TestUniverse$' -test.v -test.timeout 0 &
  pids+=($!)
done
status=0
for pid in "${pids[@]}"; do
  wait "${pid}" || status=1
done
exit "${status}"
