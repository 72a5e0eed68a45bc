#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Opens the plugin for Headlamp in a headless browser, with the library of Headlamp, against a control plane that it starts and stops:
# hack/test-headlamp.sh [folder for screenshots]
# Needs Node.js, npm, and Chromium: CHROMIUM is its path. It installs nothing.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
for program in node npm "${CHROMIUM}"; do
  command -v "${program}" >/dev/null || { echo "ERROR: there is no ${program}; the test needs Node.js 20.19 or newer, npm and Chromium"; exit 1; }
done
if [[ ! -d hack/headlamp/node_modules ]]; then
  echo "ERROR: there are no packages of npm, run in hack/headlamp: npm ci --ignore-scripts"
  exit 1
fi

if [[ $# -gt 0 ]]; then
  mkdir -p "$1"
  SCREENSHOTS=$(realpath "$1")
  export SCREENSHOTS
fi
# Not in TMPDIR: its path may be too long for the path of a socket.
dir=$(mktemp -d /tmp/mb-headlamp-XXXXXX)
trap '_output/bin/localcluster down --dir "${dir}" && rm -rf "${dir}"' EXIT
trap 'exit 130' INT TERM
_output/bin/localcluster up --dir "${dir}" --server _output/bin/modelbox-apiserver --artifacts artifacts --component=pod-debugger

export KUBECONFIG=${dir}/kubeconfig KUBECTL=${PWD}/_output/bin/kubectl
npm --prefix hack/headlamp test
