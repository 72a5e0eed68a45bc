#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when a package imports one that its place in the layout does not let it know. Data flows one way:
# apis <- render <- controller, and apis <- registry <- apiserver <- cmd.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# For each folder, the folders of this module that its packages may import.
declare -A may_import=(
  [pkg/apis]="pkg/apis"
  [pkg/render]="pkg/apis pkg/render"
  [pkg/generated]="pkg/apis pkg/generated"
  [pkg/registry]="pkg/apis pkg/render pkg/registry"
  [pkg/admission]="pkg/apis pkg/render pkg/admission"
  [pkg/storage]="pkg/apis pkg/render pkg/storage"
  [pkg/version]=""
  [pkg/apiserver]="pkg/apis pkg/registry pkg/apiserver"
  [pkg/controller]="pkg/apis pkg/render pkg/generated pkg/controller"
  [pkg/e2e]="pkg/apis pkg/generated pkg/render pkg/e2e"
  [cmd]="cmd pkg/admission pkg/apis pkg/apiserver pkg/controller pkg/generated pkg/storage pkg/version"
  [hack]="pkg/apis pkg/generated"
)

module=$(go list -m)
failed=0

is_in() { # path folder...
  local path=$1 folder
  shift
  for folder in "$@"; do
    if [[ "${path}" == "${folder}" || "${path}" == "${folder}/"* ]]; then
      return 0
    fi
  done
  return 1
}

while read -r package imports; do
  package=${package#"${module}/"}
  folder=${package%%/*}
  if [[ "${folder}" == pkg ]]; then
    folder=$(cut -d/ -f1-2 <<<"${package}")
  fi
  if [[ -z "${may_import[${folder}]+known}" ]]; then
    echo "ERROR: ${package}: hack/verify-imports.sh does not know the folder ${folder}"
    failed=1
    continue
  fi
  for import in ${imports}; do
    if [[ "${import}" != "${module}/"* ]]; then
      continue
    fi
    # shellcheck disable=SC2086 # a list of folders
    if ! is_in "${import#"${module}/"}" ${may_import[${folder}]}; then
      echo "ERROR: ${package} must not import ${import#"${module}/"}"
      failed=1
    fi
  done
done < <(go list -f '{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./...)

exit "${failed}"
