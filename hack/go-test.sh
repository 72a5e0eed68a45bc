#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs "go test" in a module, and keeps what it took for hack/tools/testtimes:
#
#   hack/go-test.sh <step> <module> "<package>..." [flag...]
#
# hack/verify-lint.sh runs go vet, so it does not run here. Test programs are linked without what only a debugger needs, which takes a
# quarter of the time.
#
# With the flag -count=1, it also keeps the processor time of each test program. Without it, "go test" does not repeat a package whose
# code and files did not change since its tests passed. With -exec, it would always repeat them.
#
# Where CI is set, it repeats a test that fails once, and names it as flaky at the end: a test that fails on a machine that
# others use too costs one test, not the whole run.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

step=$1 module=$2 packages=$3
shift 3

tools=${PWD}/_output/tools
record=${PWD}/_output/test/${step}
mkdir -p "${record%/*}"
rm -f "${record}".*
(cd hack/tools && export CGO_ENABLED=0 && go build -o "${tools}/gotestsum" gotest.tools/gotestsum && go build -o "${tools}/testtimes" ./testtimes)

repeat=()
if [[ -n "${CI:-}" ]]; then
  repeat=(--rerun-fails=1 --rerun-fails-max-failures=10 "--rerun-fails-report=${record}.flaky")
  # Subtests mostly build on each other. Those with containers do not, and all of them together take minutes.
  [[ "${step}" == e2e-containers ]] || repeat+=(--rerun-fails-run-root-test)
fi

measure=()
if [[ " $* " == *" -count=1 "* ]]; then
  measure=(-exec "${tools}/testtimes exec ${record}.cpu")
fi

cd "${module}"
status=0
TIMEFORMAT='%R %U %S'
{
  time "${tools}/gotestsum" --format=pkgname-and-test-fails --format-hide-empty-pkg --hide-summary=skipped \
    --jsonfile="${record}.json" "${repeat[@]}" --packages="${packages}" -- \
    -vet=off -ldflags=-w "${measure[@]}" "$@" 2>&4 || status=$?
} 4>&2 2>"${record}.total"

if [[ -s "${record}.flaky" ]]; then
  echo "failed at first:"
  cat "${record}.flaky"
fi
exit "${status}"
