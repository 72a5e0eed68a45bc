#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs each fuzz target for a time, such as 2m. go leaves an input that makes a target fail in a testdata/fuzz folder beside the
# target, where the next "go test" tries it again.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
fuzz_time=$1

targets=$(grep --recursive --only-matching --include='*_test.go' '^func Fuzz[[:alnum:]_]*' cmd pkg hack/localcluster | sort)
failed=0
while IFS=: read -r file declaration; do
  target=${declaration#func }
  folder=$(dirname "${file}")
  echo "${target} in ${folder}"
  # An input that reaches new code is worth little time to make it smaller: the next one is.
  go test -C "${folder}" . -run '^$' -fuzz "^${target}\$" -fuzztime "${fuzz_time}" -fuzzminimizetime 1s || failed=1
done <<<"${targets}"
exit "${failed}"
