#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the end-to-end tests, or those that the arguments for "go test" say, against one control plane: the one that runs
# in MODELBOX_E2E_DIR, or one that is started for them and stopped again, of the program that MODELBOX_E2E_HOST_BINARY names
# where that is set.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

run_tests() {
  # One package at a time: some of their tests disturb the server, which is everybody's.
  go test -p 1 -count=1 -timeout 30m "$@"
}

# run_all runs the tests that run containers last, and alone: a container that gets no processor for ten seconds loses requests.
run_all() {
  local containers status=0
  containers=$(go list ./pkg/e2e/containers)
  # shellcheck disable=SC2046 # a list of packages
  run_tests $(go list ./pkg/e2e/... | grep -vFx "${containers}") || status=1
  run_tests "${containers}" || status=1
  return "${status}"
}

run() {
  if [[ $# == 0 ]]; then
    run_all
  else
    run_tests "$@"
  fi
}

trap 'exit 130' INT TERM

if [[ -n "${MODELBOX_E2E_DIR:-}" ]]; then
  run "$@"
  exit
fi

# Not in TMPDIR, which may be long: the path of a socket may not.
dir=$(mktemp -d /tmp/mb-e2e-XXXXXX)

stop() {
  local status=$? left
  trap - EXIT
  _output/bin/localcluster down --dir "${dir}" || status=1
  # What looks for the name has it neither as an argument nor in its environment, or it would find itself.
  export -n MODELBOX_E2E_DIR
  left=$(grep --files-with-matches --no-messages --fixed-strings --file=<(echo "${dir}") /proc/[0-9]*/{cmdline,environ} | cut -d/ -f3 | sort -u) || true
  if [[ -n "${left}" ]]; then
    echo "ERROR: the control plane left processes behind:"
    # shellcheck disable=SC2086 # a list of processes
    ps -o pid=,args= -p ${left//$'\n'/,}
    status=1
  fi
  if [[ "${status}" == 0 ]]; then
    rm -rf "${dir}"
  else
    echo "logs are kept in ${dir}/logs"
  fi
  exit "${status}"
}
trap stop EXIT

_output/bin/localcluster up --dir "${dir}" --server _output/bin/modelbox-apiserver --artifacts artifacts --host-binary "${MODELBOX_E2E_HOST_BINARY:-}"
export MODELBOX_E2E_DIR=${dir}
run "$@"
