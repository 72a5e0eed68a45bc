#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Generates protobuf, deepcopy, defaults and conversions beside the API types, and OpenAPI, clientset, informers, listers and apply
# configurations in pkg/generated. The generators come from k8s.io/code-generator, at the version in go.mod. It also writes the rules
# of the children of boxes into the manifests, and the templates of the chart that repeat a manifest.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

module=$(go list -m)
export GOBIN="${PWD}/_output/tools"
export PATH="${GOBIN}:${PATH}"
export GOFLAGS="${GOFLAGS:-} -mod=mod"

# A module has a folder once it was downloaded, which nothing may have done yet.
go mod download k8s.io/code-generator k8s.io/api k8s.io/apimachinery github.com/gogo/protobuf

# kube_codegen.sh builds the generators inside the code-generator module, with the versions pinned there.
codegen=$(go list -m -f '{{.Dir}}' k8s.io/code-generator)
source "${codegen}/kube_codegen.sh"

# The apply configurations of core types come from client-go.
external_applyconfigs=$(
  for type in Container ContainerState EnvFromSource EnvVar LocalObjectReference PodTemplateSpec Probe ResourceRequirements ServicePort SessionAffinityConfig Volume VolumeMount; do
    printf 'k8s.io/api/core/v1.%s:k8s.io/client-go/applyconfigurations/core/v1,' "${type}"
  done
  for type in HorizontalPodAutoscalerBehavior MetricSpec; do
    printf 'k8s.io/api/autoscaling/v2.%s:k8s.io/client-go/applyconfigurations/autoscaling/v2,' "${type}"
  done
  for type in NetworkPolicyEgressRule NetworkPolicyIngressRule; do
    printf 'k8s.io/api/networking/v1.%s:k8s.io/client-go/applyconfigurations/networking/v1,' "${type}"
  done
)

boilerplate="${PWD}/hack/boilerplate.go.txt"

generate_protobuf() {
  go build -o "${GOBIN}/" k8s.io/code-generator/cmd/go-to-protobuf k8s.io/code-generator/cmd/go-to-protobuf/protoc-gen-gogo
  (cd hack/tools && go build -o "${GOBIN}/" ./protoc golang.org/x/tools/cmd/goimports)

  # The generator finds packages by their import paths below one folder, and writes there.
  local tree
  tree=$(mktemp -d)
  mkdir -p "${tree}/$(dirname "${module}")"
  ln -s "${PWD}" "${tree}/${module}"
  for dependency in k8s.io/api k8s.io/apimachinery github.com/gogo/protobuf; do
    mkdir -p "${tree}/$(dirname "${dependency}")"
    ln -s "$(go list -m -f '{{.Dir}}' "${dependency}")" "${tree}/${dependency}"
  done

  # The '-' before a package: read its types, write nothing. Without it the module cache would be written to.
  go-to-protobuf \
    --go-header-file "${boilerplate}" \
    --output-dir "${tree}" \
    --proto-import "${tree}" \
    --apimachinery-packages "$(printf -- '-k8s.io/%s,' \
      apimachinery/pkg/util/intstr apimachinery/pkg/api/resource apimachinery/pkg/runtime/schema \
      apimachinery/pkg/runtime apimachinery/pkg/apis/meta/v1 api/core/v1 api/autoscaling/v2 api/networking/v1 | sed 's/,$//')" \
    --packages "${module}/pkg/apis/model/v1"
  rm -rf "${tree}"
}

# First, because it writes the protobuf tags into the types that the others read.
generate_protobuf

# Inputs from other modules: read their types, write nothing into the module cache.
readonly_packages=("${KUBE_CODEGEN_READONLY_PKGS[@]}" k8s.io/api/core/v1 k8s.io/api/autoscaling/v1 k8s.io/api/autoscaling/v2 k8s.io/api/networking/v1)

# validation-gen reads none but ours: the code for the tags of other types is out of reach, most of it in Kubernetes.
KUBE_CODEGEN_READONLY_PKGS=(k8s.io/apimachinery/pkg/util/intstr)
kube::codegen::gen_helpers --boilerplate "${boilerplate}" pkg/apis
KUBE_CODEGEN_READONLY_PKGS=("${readonly_packages[@]}")

# The API rule violations that are accepted are recorded in hack/api-violations.list. The reason is the same for nearly
# all of them: they are in Kubernetes' own types, which cannot change. This API's types have one: no field of a Go type
# can have the name Size, which is a method of every message of protobuf.
kube::codegen::gen_openapi \
  --boilerplate "${boilerplate}" \
  --output-dir pkg/generated/openapi \
  --output-pkg "${module}/pkg/generated/openapi" \
  --output-model-name-file zz_generated.model_name.go \
  --extra-pkgs k8s.io/api/core/v1 \
  --extra-pkgs k8s.io/api/autoscaling/v1 \
  --extra-pkgs k8s.io/api/autoscaling/v2 \
  --extra-pkgs k8s.io/api/networking/v1 \
  --extra-pkgs k8s.io/apimachinery/pkg/util/intstr \
  --report-filename hack/api-violations.list \
  ${UPDATE_API_VIOLATIONS:+--update-report} \
  pkg/apis

if grep "${module}" hack/api-violations.list | grep -v ',ModelBoxStorage,RequestedSize$'; then
  echo "ERROR: these types break the rules of Kubernetes APIs" >&2
  exit 1
fi

kube::codegen::gen_client \
  --boilerplate "${boilerplate}" \
  --with-watch \
  --prefers-protobuf \
  --with-applyconfig \
  --applyconfig-externals "${external_applyconfigs%,}" \
  --applyconfig-openapi-schema <(go run ./hack/openapi-schema) \
  --output-dir pkg/generated \
  --output-pkg "${module}/pkg/generated" \
  pkg/apis

go run ./hack/manifests artifacts

# Since which version of Kubernetes there are the fields of children that not every supported one has.
introduced=$(go run ./hack/host-fields)
echo "${introduced}" >pkg/hostcluster/introduced.txt

# The generator calls the kinds themselves after their Go package, and all other types as OpenAPI does. What looks for the
# schema of a kind, as managedfields.NewSchemeTypeConverter does, takes the latter.
grep --files-with-matches --recursive "com.github.sharelinuxs.modelbox-apiserver.pkg.apis.model.v1" pkg/generated/applyconfiguration |
  xargs sed -i 's/com\.github\.sharelinuxs\.modelbox-apiserver\.pkg\.apis\.model\.v1/com.github.model.v1/g'
