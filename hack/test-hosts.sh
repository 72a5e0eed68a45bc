#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the end-to-end tests that are about what the cluster is asked to do against control planes of each Kubernetes that is
# supported, and writes what came of it into the table of docs/hosts.md. Arguments are the minors to test, all without:
# hack/test-hosts.sh [v1.33...]. Logs are in _output/hosts.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

suites=(api kubectl lifecycle networks ownership security stack)
own=$(sed -n 's/^[[:space:]]*k8s.io\/kubernetes \(v[0-9.]*\)$/\1/p' hack/localcluster/go.mod)
failed=0

# count prints how many tests of a log had a result.
count() { # log result
  grep --count --extended-regexp "^[[:space:]]*--- $2: " "$1" || true
}

test_host() { # version
  local version=$1 minor=${1%.*} log status=0 row
  log=_output/hosts/${minor}.log
  echo "testing Kubernetes ${version}, the log is ${log}"
  [[ "${version}" == "${own}" ]] || local -x MODELBOX_E2E_HOST_BINARY=_output/hosts/${minor}
  hack/test-e2e.sh -v "${suites[@]/#/./pkg/e2e/}" >"${log}" 2>&1 || status=1
  row="| ${minor#v} | ${version} | $(count "${log}" PASS) | $(count "${log}" SKIP) | $(count "${log}" FAIL) |"
  echo "  ${row}"
  if [[ "${status}" != 0 ]]; then
    failed=1
    grep --extended-regexp '^[[:space:]]*--- (FAIL|SKIP): ' "${log}" || tail -5 "${log}"
  fi
  sed -i "s/^| ${minor#v} | \(v\|not yet\).*/${row}/" docs/hosts.md
}

mkdir -p _output/hosts
while read -r version _; do
  if [[ $# == 0 || " $* " == *" ${version%.*} "* ]]; then
    test_host "${version}"
  fi
done < <(cat hack/hosts/versions && echo "${own}")
exit "${failed}"
