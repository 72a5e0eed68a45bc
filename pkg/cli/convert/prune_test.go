// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

func TestPruneLeavesWhatSomebodyHasWritten(t *testing.T) {
	for _, row := range []struct{ name, spec, want string }{
		{
			"defaults of containers",
			`{containers: [{name: a, image: "a:1", imagePullPolicy: IfNotPresent, terminationMessagePath: /dev/termination-log,
			  terminationMessagePolicy: File, resources: {}, ports: [{containerPort: 80, protocol: TCP}]}]}`,
			`{containers: [{name: a, image: "a:1", ports: [{containerPort: 80}]}]}`,
		},
		{
			"another pull policy",
			`{containers: [{image: "r:5000/a", imagePullPolicy: IfNotPresent}, {image: "r:5000/a", imagePullPolicy: Always}, {image: "a@sha256:b", imagePullPolicy: IfNotPresent}]}`,
			`{containers: [{image: "r:5000/a", imagePullPolicy: IfNotPresent}, {image: "r:5000/a"}, {image: "a@sha256:b"}]}`,
		},
		{
			"probes, and the timeout of a session",
			`{readinessProbe: {httpGet: {port: 80, scheme: HTTP}, periodSeconds: 10, timeoutSeconds: 2, successThreshold: 1, failureThreshold: 3},
			  service: {sessionAffinityConfig: {clientIP: {timeoutSeconds: 1}}}}`,
			`{readinessProbe: {httpGet: {port: 80}, timeoutSeconds: 2}, service: {sessionAffinityConfig: {clientIP: {timeoutSeconds: 1}}}}`,
		},
		{
			"volumes, of which one is empty",
			`{volumes: [{name: a, emptyDir: {}}, {name: b, configMap: {name: b, defaultMode: 420}}, {name: c, secret: {secretName: c, defaultMode: 256}}]}`,
			`{volumes: [{name: a, emptyDir: {}}, {name: b, configMap: {name: b}}, {name: c, secret: {secretName: c, defaultMode: 256}}]}`,
		},
		{
			"ports",
			`{ports: [{port: 80, targetPort: 80, protocol: TCP}, {port: 80, targetPort: 8080, protocol: UDP}]}`,
			`{ports: [{port: 80}, {port: 80, targetPort: 8080, protocol: UDP}]}`,
		},
		{
			"references",
			`{envs: [{name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}, {name: protocol, value: ""}]}`,
			`{envs: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: protocol, value: ""}]}`,
		},
		{"an overlay without a spec", `{podTemplate: {metadata: {labels: {a: b}}, spec: {}}}`, `{podTemplate: {metadata: {labels: {a: b}}}}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, want := fromYAML(t, row.spec), fromYAML(t, row.want)
			prune(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// fromYAML returns an object with numbers as unstructured objects have them.
func fromYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &object); err != nil {
		t.Fatal(err)
	}
	return object
}
