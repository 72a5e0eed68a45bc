#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Runs the tests of pages in a headless browser, against a control plane that it starts and stops:
#
#   hack/test-pages.sh <folder of the pages> <folder for screenshots> [flag of "localcluster up"...]
#
# Needs Node.js, npm, and Chromium: CHROMIUM is its path. It installs nothing.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

pages=$1 screenshots=$2
shift 2

export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
for program in node npm "${CHROMIUM}"; do
  command -v "${program}" >/dev/null || { echo "ERROR: there is no ${program}; the test needs Node.js 20.19 or newer, npm and Chromium"; exit 1; }
done
if [[ ! -d "${pages}/node_modules" ]]; then
  echo "ERROR: there are no packages of npm, run in ${pages}: npm ci --ignore-scripts"
  exit 1
fi

mkdir -p "${screenshots}"
SCREENSHOTS=$(realpath "${screenshots}")
# Not in TMPDIR: its path may be too long for the path of a socket.
dir=$(mktemp -d /tmp/mb-pages-XXXXXX)
trap '_output/bin/localcluster down --dir "${dir}" && rm -rf "${dir}"' EXIT
trap 'exit 130' INT TERM
_output/bin/localcluster up --dir "${dir}" --server _output/bin/modelbox-apiserver --artifacts artifacts "$@"

export SCREENSHOTS
export KUBECONFIG=${dir}/kubeconfig KUBECTL=${PWD}/_output/bin/kubectl PLUGIN=${PWD}/_output/bin/kubectl-modelbox
export SERVER_PID=${dir}/run/modelbox-apiserver.pid
npm --prefix "${pages}" test
