#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds one program with a line of progress now and then: hack/go-build.sh <module> <package> <output> [flag...]
# Kubernetes takes minutes the first time, and silence looks like a hang.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

module=$1 package=$2 output=${PWD}/$3
shift 3

echo "building ${output#"${PWD}/"}"
started=${SECONDS}
cd "${module}"
go build -v "$@" -o "${output}" "${package}" 2>&1 |
  awk '/^[a-zA-Z0-9_.\/-]+$/ { if (++packages % 200 == 0) { printf "  %d packages compiled\n", packages; fflush() } next } { print; fflush() }'
echo "  done in $((SECONDS - started))s"
