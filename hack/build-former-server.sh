#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds the server of another release of this repository: hack/build-former-server.sh <commit> <folder>
# The program is modelbox-apiserver in the folder, and what it is built from beside it.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

commit=$1 folder=$2
echo "building the server of ${commit}"
rm -rf "${folder}"
mkdir -p "${folder}/source"
git archive "${commit}" | tar -x -C "${folder}/source"
program=${PWD}/${folder}/modelbox-apiserver
cd "${folder}/source"
go build -o "${program}" ./cmd/modelbox-apiserver
