#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Prints the flags of the linker that say which version and commit of the product is built: the version of the tag, where the
# commit has one, and the commit. Nothing outside of a git repository.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

package=$(sed -n 's/^module //p' go.mod)/pkg/version
commit=$(git rev-parse --verify HEAD 2>/dev/null) || exit 0
state=clean
[[ -z "$(git status --porcelain --untracked-files=no)" ]] || state=dirty
echo "-X ${package}.gitCommit=${commit} -X ${package}.gitTreeState=${state}"
if version=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null); then
  echo "-X ${package}.gitVersion=${version}"
fi
