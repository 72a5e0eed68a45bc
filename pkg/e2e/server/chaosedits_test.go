// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

// edit is a JSON patch of a field of a child.
type edit struct{ resource, field, patch string }

// chaosEdits are changes of children by users who do not know the box. Each is one change as with kubectl edit. They leave out
// changes that server-side apply alone cannot revert.
var chaosEdits = []edit{
	{"deployments", "image", `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:hacked"}]`},
	{"deployments", "replicas", `[{"op": "replace", "path": "/spec/replicas", "value": 0}]`},
	{"deployments", "managed-by", `[{"op": "remove", "path": "/metadata/labels/app.kubernetes.io~1managed-by"}]`},
	{"deployments", "owner", `[{"op": "remove", "path": "/metadata/ownerReferences"}]`},
	{"deployments", "controller", `[{"op": "replace", "path": "/metadata/ownerReferences/0/controller", "value": false}]`},
	{"deployments", "managed fields", `[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]`},
	{"deployments", "record", `[{"op": "replace", "path": "/metadata/annotations/model.github.com~1render-hash", "value": "forged"}]`},
	{"deployments", "container name", `[{"op": "replace", "path": "/spec/template/spec/containers/0/name", "value": "evil"}]`},
	{"deployments", "readinessProbe", `[{"op": "replace", "path": "/spec/template/spec/containers/0/readinessProbe", "value": {"exec": {"command": ["evil"]}}}]`},
	{"deployments", "preStop", `[{"op": "replace", "path": "/spec/template/spec/containers/0/lifecycle/preStop", "value": {"exec": {"command": ["evil"]}}}]`},
	{"deployments", "variable", `[{"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "evil"}]`},
	{"deployments", "source of a variable", `[{"op": "replace", "path": "/spec/template/spec/containers/0/env/0",
		"value": {"name": "V0", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}}]`},
	{"deployments", "variable that is there twice", `[{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "V0", "value": "evil"}}]`},
	{"deployments", "many fields", `[
		{"op": "replace", "path": "/metadata/labels/modelbox", "value": "evil"},
		{"op": "replace", "path": "/spec/minReadySeconds", "value": 0},
		{"op": "replace", "path": "/spec/strategy", "value": {"type": "Recreate"}},
		{"op": "remove", "path": "/spec/template/spec/containers/0/livenessProbe"},
		{"op": "remove", "path": "/spec/template/spec/containers/0/startupProbe"}]`},
	{"services", "targetPort", `[{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9999}]`},
	{"services", "port", `[{"op": "replace", "path": "/spec/ports/0/port", "value": 9999}]`},
	{"services", "selector", `[{"op": "replace", "path": "/spec/selector/modelbox", "value": "none"}]`},
}
