#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Writes what each overlay installs into one file: hack/build-install.sh <image> <image of etcd> <folder>
# An image is a name with a tag, a digest or both.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

image=$1 etcd_image=$2 folder=$3

hack/go-build.sh hack/tools sigs.k8s.io/kustomize/kustomize/v5 _output/tools/kustomize
kustomize="${PWD}/_output/tools/kustomize"

mkdir -p "${folder}"
# kustomize refers to folders by relative paths only.
kustomization=$(mktemp -d "${folder}/kustomization.XXXXXX")
trap 'rm -rf "${kustomization}"' EXIT

for overlay in artifacts/overlays/*/; do
  name=$(basename "${overlay}")
  output=${folder}/install-${name}.yaml
  # The first choice has the short name.
  if [[ "${name}" == standalone ]]; then output=${folder}/install.yaml; fi
  rm -f "${kustomization}/kustomization.yaml"
  (
    cd "${kustomization}"
    "${kustomize}" create --resources "$(realpath --relative-to=. "${OLDPWD}/${overlay}")"
    "${kustomize}" edit set image "modelbox-apiserver=${image}" "etcd=${etcd_image}"
  )
  {
    sed -n 1,2p "${overlay}/kustomization.yaml"
    echo
    "${kustomize}" build "${kustomization}"
  } >"${output}.partly"
  mv "${output}.partly" "${output}"
  echo "wrote ${output}"
done
