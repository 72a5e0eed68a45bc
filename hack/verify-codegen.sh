#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when a generated file differs from the output of hack/update-codegen.sh.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The generators run in a copy, so that a check never changes what it checks.
copy="${PWD}/_output/verify-codegen"
rm -rf "${copy}"
mkdir -p "${copy}"
trap 'rm -rf "${copy}"' EXIT
cp -R go.mod go.sum artifacts hack pkg "${copy}"
rm -rf "${copy}/hack/localcluster" "${copy}/hack/clients" "${copy}/hack/bench" "${copy}/hack/universe"

"${copy}/hack/update-codegen.sh" >"${copy}/log" 2>&1 || { cat "${copy}/log"; exit 1; }

for path in pkg artifacts hack/api-violations.list; do
  if ! diff -ru "${path}" "${copy}/${path}"; then
    echo "ERROR: generated files are stale, run: make generate"
    exit 1
  fi
done
