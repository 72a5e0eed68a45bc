#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the end-to-end tests, except for pkg/e2e/containers and pkg/e2e/ecosystem, or those that the arguments for "go test" say, against
# the control plane that runs in MODELBOX_E2E_DIR, or against one that is started for them and stopped again, of the program that
# MODELBOX_E2E_HOST_BINARY names where that is set.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The packages whose tests leave the server alone share a control plane. The others start one each, and run beside the first ones.
peaceful="api clients kubectl lifecycle migrate networks pairs plugin poddebugger rolloutchecks security serviceingress stack upgrade"
disturbing="linearizability ownership server storage"
# What the others are made of needs none.
foundations="framework powerloss"
# These have a target of their own in the Makefile.
apart="containers ecosystem"

# packages prints those packages of end-to-end tests.
packages() { # name...
  printf ' ./pkg/e2e/%s' "$@"
}

run_all() {
  local status=0 beside
  check_groups
  # shellcheck disable=SC2086 # lists of words
  {
    hack/go-test.sh e2e-framework . "$(packages ${foundations})" -count=1 || status=1
    env --unset=MODELBOX_E2E_DIR hack/go-test.sh e2e-disturbing . "$(packages ${disturbing})" -p 1 -count=1 -timeout 60m &
    beside=$!
    hack/go-test.sh e2e-peaceful . "$(packages ${peaceful})" -p 1 -count=1 -timeout 30m || status=1
    wait "${beside}" || status=1
  }
  return "${status}"
}

# check_groups fails when a package is in no group.
check_groups() {
  local name
  for name in $(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./pkg/e2e/...); do
    name=${name##*/}
    if [[ " ${foundations} ${peaceful} ${disturbing} ${apart} " != *" ${name} "* ]]; then
      echo "ERROR: $0 does not run the tests of pkg/e2e/${name}"
      exit 1
    fi
  done
}

run() {
  if [[ $# == 0 ]]; then
    run_all
  else
    go test -p 1 -count=1 -timeout 30m "$@"
  fi
}

trap 'exit 130' INT TERM

if [[ -n "${MODELBOX_E2E_DIR:-}" ]]; then
  run "$@"
  exit
fi

# Not in TMPDIR: its path may be too long for the path of a socket.
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
export MODELBOX_E2E_DIR=${dir} MODELBOX_E2E_TEMPORARY=true
run "$@"
