#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when a package imports a package that its place in the layout does not allow. Data flows one way:
# apis <- render <- apply <- controller, and apis <- registry <- apiserver <- cmd. No controller imports another.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# For each folder, the folders of this module that its packages may import. Of nested folders, the innermost counts.
declare -A may_import=(
  [pkg/apis]="pkg/apis"
  [pkg/apis/core]="pkg/apis/core pkg/apis/validate"
  [pkg/apis/validate]="pkg/apis/validate"
  [pkg/render]="pkg/apis pkg/render"
  [pkg/apply]="pkg/apis pkg/generated pkg/render pkg/apply"
  [pkg/generated]="pkg/apis pkg/generated"
  [pkg/costtest]="pkg/apis pkg/version"
  [pkg/promquery]="pkg/apis"
  [pkg/registry]="pkg/apis pkg/promquery pkg/render pkg/registry"
  [pkg/registry/model/modelbox/boxchildren]="pkg/apis pkg/apply pkg/hostcluster pkg/render"
  [pkg/registry/model/modelbox/podaccess]="pkg/apis pkg/hostcluster"
  [pkg/admission]="pkg/apis pkg/render pkg/admission pkg/hostcluster"
  [pkg/storage]="pkg/apis pkg/render pkg/storage"
  [pkg/storage/compression]=""
  [pkg/etcdcertificates]="pkg/pki"
  [pkg/hostcluster]="pkg/apis pkg/generated pkg/hostcluster"
  [pkg/hostcluster/boxpods]="pkg/apis pkg/render"
  [pkg/pki]=""
  [pkg/servingcertificate]="pkg/pki"
  [pkg/version]=""
  [pkg/apiserver]="pkg/apis pkg/hostcluster pkg/registry pkg/render pkg/apiserver"
  [pkg/server]="pkg/admission pkg/apis pkg/apiserver pkg/generated pkg/hostcluster pkg/pki pkg/registry pkg/render pkg/server pkg/servingcertificate pkg/storage"
  [pkg/server/authentication]="pkg/server/authentication"
  [pkg/server/http2drain]=""
  [pkg/controller]="pkg/apis pkg/apply pkg/hostcluster pkg/promquery pkg/render pkg/generated pkg/controller"
  [pkg/cli]="pkg/apis pkg/cli pkg/generated pkg/render"
  [pkg/e2e]="pkg/apis pkg/generated pkg/hostcluster pkg/render pkg/storage/compression pkg/e2e"
  [cmd]="cmd pkg/admission pkg/apis pkg/apiserver pkg/cli pkg/controller pkg/etcdcertificates pkg/generated pkg/hostcluster pkg/pki pkg/registry/model/modelbox/podaccess pkg/render pkg/server pkg/servingcertificate pkg/storage pkg/version"
  [hack]="pkg/apis pkg/generated"
)

# For a folder, the further folders that the tests of its packages may import.
declare -A tests_may_import=(
  [cmd]="pkg/costtest"
  [pkg/apply]="pkg/controller/fixture"
  [pkg/registry/model/modelbox]="pkg/costtest"
  [pkg/controller/modelbox]="pkg/costtest pkg/registry/model/modelbox/boxchildren" # a test compares the reconcile with the subresource diff
  [pkg/e2e/powerloss]="pkg/storage" # a test cuts the power in the middle of what they do
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

# rules_of sets rules to the folder whose rules hold for a package, to nothing where there is none.
rules_of() { # package
  rules=$1
  while [[ -n "${rules}" && -z "${may_import[${rules}]+known}" ]]; do
    if [[ "${rules}" == */* ]]; then rules=${rules%/*}; else rules=""; fi
  done
}

# controller_of sets controller to the folder of the controller that a package belongs to, to nothing where it belongs
# to none. The wiring of a controller is its controller.go; folders without one are what controllers share.
controller_of() { # package
  controller=""
  if [[ "$1" == pkg/controller/* ]]; then
    local rest=${1#pkg/controller/}
    if [[ -e "pkg/controller/${rest%%/*}/controller.go" ]]; then
      controller=pkg/controller/${rest%%/*}
    fi
  fi
}

while read -r part package imports; do
  package=${package#"${module}/"}
  rules_of "${package}"
  if [[ -z "${rules}" ]]; then
    echo "ERROR: hack/verify-imports.sh does not know what ${package} may import"
    failed=1
    continue
  fi
  subject=${package}
  allowed=${may_import[${rules}]}
  if [[ "${part}" == tests ]]; then
    subject="the tests of ${package}"
    for folder in "${!tests_may_import[@]}"; do
      if is_in "${package}" "${folder}"; then allowed+=" ${tests_may_import[${folder}]}"; fi
    done
  fi
  controller_of "${package}"
  importer=${controller}
  for import in ${imports}; do
    if [[ "${import}" != "${module}/"* ]]; then
      continue
    fi
    import=${import#"${module}/"}
    # shellcheck disable=SC2086 # a list of folders
    if ! is_in "${import}" ${allowed}; then
      echo "ERROR: ${subject} must not import ${import}"
      failed=1
      continue
    fi
    controller_of "${import}"
    if [[ -n "${controller}" && "${controller}" != "${importer}" && "${package}" != pkg/controller ]]; then
      echo "ERROR: ${subject} must not import ${import}: only pkg/controller knows controllers"
      failed=1
    fi
  done
done < <(go list -f 'package {{.ImportPath}} {{join .Imports " "}}
tests {{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./...)

# Only the plugin of kubectl may import kubectl: the server has no use for it.
while read -r package; do
  echo "ERROR: cmd/modelbox-apiserver must not be linked with ${package}"
  failed=1
done < <(go list -deps ./cmd/modelbox-apiserver | grep '^k8s.io/kubectl/' || true)

exit "${failed}"
