#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Draws the dashboard into a file: hack/draw-dashboard.sh <picture> [seconds]
# Prometheus from Debian scrapes the server of a local control plane, which works for that many seconds.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

picture=$(realpath "$1") duration=${2:-480}
readonly SERVED_AT=127.0.0.1:19090 NAMESPACE=shop

hack/get-prometheus.sh _output/bin/prometheus
if [[ ! -x _output/bin/prometheus ]]; then
  echo "ERROR: there is no package prometheus here"
  exit 1
fi
hack/go-build.sh hack/dashboard . _output/tools/dashboard

# Not in TMPDIR: its path may be too long for the path of a socket.
dir=$(mktemp -d /tmp/mb-dashboard-XXXXXX)
prometheus=
stop() {
  [[ -z "${prometheus}" ]] || kill "${prometheus}"
  _output/bin/localcluster down --dir "${dir}" && rm -rf "${dir}"
}
trap stop EXIT
trap 'exit 130' INT TERM
_output/bin/localcluster up --dir "${dir}" --server _output/bin/modelbox-apiserver --artifacts artifacts
kubectl() { _output/bin/kubectl --kubeconfig="${dir}/kubeconfig" "$@"; }

# Prometheus is an administrator here, who may read the metrics.
for part in client-certificate client-key; do
  kubectl config view --raw --minify --output="jsonpath={.users[0].user.${part}-data}" | base64 --decode >"${dir}/${part}"
done
port=$(kubectl get apiservice v1.model.github.com --output=jsonpath='{.spec.service.port}')
cat >"${dir}/prometheus.yml" <<END
global: {scrape_interval: 5s}
scrape_configs:
- job_name: modelbox-apiserver
  scheme: https
  tls_config: {ca_file: ${dir}/modelbox/ca.crt, cert_file: ${dir}/client-certificate, key_file: ${dir}/client-key}
  static_configs: [{targets: ["127.0.0.1:${port}"]}]
END
_output/bin/prometheus --config.file="${dir}/prometheus.yml" --storage.tsdb.path="${dir}/prometheus" \
  --web.listen-address="${SERVED_AT}" >"${dir}/logs/prometheus.log" 2>&1 &
prometheus=$!

box() {
  printf -- '---\napiVersion: model.github.com/v1\nkind: ModelBox\nmetadata: {name: %s}\nspec: {image: "nginx:1.%d", replicas: %d, ports: [{port: 80}]}\n' "$@"
}

kubectl create namespace "${NAMESPACE}"
kubectl --namespace="${NAMESPACE}" apply --filename=artifacts/samples/modelstack.yaml --filename=artifacts/samples/network.yaml
until=$((SECONDS + duration))
for ((round = 0; SECONDS < until; round++)); do
  for ((number = 0; number < 10; number++)); do
    box "web-$((round % 8))-${number}" "$((round % 3 + 7))" "$((number % 3 + 1))"
  done | kubectl --namespace="${NAMESPACE}" apply --filename=- >"${dir}/logs/load.log"
  # Users read boxes, change fields of the controller, and delete objects meanwhile.
  kubectl get modelboxes,modelstacks --all-namespaces --output=wide >>"${dir}/logs/load.log"
  kubectl --namespace="${NAMESPACE}" scale "deployment/web-$((round % 8))-1" --replicas=5 >>"${dir}/logs/load.log" || true
  kubectl --namespace="${NAMESPACE}" set image "deployment/web-$((round % 8))-2" '*=nginx:2' >>"${dir}/logs/load.log" || true
  kubectl --namespace="${NAMESPACE}" delete "service/web-$((round % 8))-3" "modelbox/web-$((round % 8))-4" >>"${dir}/logs/load.log" || true
done
_output/tools/dashboard -prometheus="http://${SERVED_AT}" -since="${duration}s" -output="${picture}"
