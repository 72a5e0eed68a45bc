#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when golden boxes render into other bytes with the libraries of the previous Kubernetes. The same bytes are pinned for the
# present libraries, so an upgrade of the libraries alone rolls out no pods.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

minor=$(go list -m -f '{{.Version}}' k8s.io/api | cut -d. -f2)
older="v0.$((minor - 1)).0"

# go.mod stays as it is: this one is beside it, and has its go.sum beside itself.
folder=$(mktemp -d)
trap 'rm -rf "${folder}"' EXIT
cp go.mod go.sum "${folder}"
for library in api apimachinery client-go; do
  go mod edit -replace="k8s.io/${library}=k8s.io/${library}@${older}" "${folder}/go.mod"
done

# What is generated from validation tags needs the present libraries, and has no part in rendering.
echo "{\"Replace\": {\"${PWD}/pkg/apis/model/v1/zz_generated.validations.go\": \"\"}}" >"${folder}/overlay.json"

echo "rendering with Kubernetes ${older}"
go test -modfile="${folder}/go.mod" -mod=mod -overlay="${folder}/overlay.json" ./pkg/render/modelbox -run '^TestGolden$'
