// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"runtime"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// maxRefusalBytes is how much memory may be allocated for a request that is refused, whatever its body becomes.
const maxRefusalBytes = 16 << 20

func TestBodiesThatTakeTooMuchMemoryAreRefused(t *testing.T) {
	server := startServer(t)
	web := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: modelv1.ModelBoxSpec{Image: "nginx:1.29"}}
	if _, err := server.client.ModelV1().ModelBoxes(metav1.NamespaceDefault).Create(t.Context(), web, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const (
		tooMany = "spec.containers: Too many: must have at most 16384 items"
		aliases = "YAML must have at most 3145728 bytes once its aliases are replaced by their values"
	)
	list := func(element string, times int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", times), ",") + "]"
	}
	const head = `"apiVersion": "model.github.com/v1", "kind": "ModelBox", "metadata": {"name": "web"}`
	containers := `{` + head + `, "spec": {"image": "a", "containers": ` + list("{}", 60000) + `}}`
	alias := `{` + head + `, spec: {image: a}, x: &a ` + strings.Repeat("x", 100<<10) + `, y: ` + list("*a", 1000) + `}`
	inProtobuf := web.DeepCopy()
	inProtobuf.Spec.Containers = decode(t, []byte(containers)).Spec.Containers
	for _, row := range []struct {
		name, verb, contentType, body string
		code                          int32
		want                          string
	}{
		{"a box as JSON", "POST", "application/json", containers, 413, tooMany},
		{"an update as JSON", "PUT", "application/json", containers, 413, tooMany},
		{"a box as protobuf", "POST", "application/vnd.kubernetes.protobuf", string(encode(t, "application/vnd.kubernetes.protobuf", inProtobuf)), 413, tooMany},
		{"a box as YAML", "POST", "application/yaml", containers, 413, tooMany},
		{"a box as YAML with aliases", "POST", "application/yaml", alias, 413, aliases},
		{"a merge patch", "PATCH", string(types.MergePatchType), containers, 413, tooMany},
		{"a strategic merge patch", "PATCH", string(types.StrategicMergePatchType), containers, 413, tooMany},
		{"server-side apply", "PATCH", string(types.ApplyYAMLPatchType), containers, 413, tooMany},
		{"server-side apply with aliases", "PATCH", string(types.ApplyYAMLPatchType), alias, 413, aliases},
		{"a JSON patch", "PATCH", string(types.JSONPatchType), `[{"op": "add", "path": "/spec/containers", "value": ` + list("{}", 60000) + `}]`, 413, "object: Too many: must have at most 16384 items"},
		{"a JSON patch that copies", "PATCH", string(types.JSONPatchType), `[{"op": "add", "path": "/spec/containers", "value": [{"volumeMounts": ` + list("{}", 1000) + `}]},` +
			strings.Trim(list(`{"op": "copy", "from": "/spec/containers/0", "path": "/spec/containers/-"}`, 900), "["), 422, "the server rejected our request due to an error in our request"},
	} {
		t.Run(row.name, func(t *testing.T) {
			request := server.client.ModelV1().RESTClient().Verb(row.verb).Namespace(metav1.NamespaceDefault).Resource("modelboxes").
				SetHeader("Content-Type", row.contentType).Body([]byte(row.body))
			if row.verb != "POST" {
				request = request.Name("web").Param("fieldManager", "test")
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := request.Do(t.Context()).Error()
			runtime.ReadMemStats(&after)
			status, isStatus := err.(apierrors.APIStatus) //nolint:errorlint // it is not wrapped
			if !isStatus || status.Status().Code != row.code || !strings.Contains(status.Status().Message, row.want) {
				t.Errorf("got %.300v, want %d %s", err, row.code, row.want)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > maxRefusalBytes {
				t.Errorf("refusing %d bytes allocates %d", len(row.body), allocated)
			}
		})
	}
}
