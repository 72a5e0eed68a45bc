// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	artifacts = "../../../artifacts"
	chart     = artifacts + "/chart/modelbox-apiserver"
	namespace = "modelbox-system"
)

// objects are what is installed, by kind and name.
type objects map[string]map[string]any

func (o objects) add(t *testing.T, object map[string]any) {
	t.Helper()
	metadata, _ := object["metadata"].(map[string]any)
	key := fmt.Sprintf("%v %v %v/%v", object["apiVersion"], object["kind"], metadata["namespace"], metadata["name"])
	if _, exists := o[key]; exists {
		t.Fatalf("%s is there twice", key)
	}
	o[key] = object
}

func TestChartInstallsWhatOverlaysDo(t *testing.T) {
	for _, test := range []struct {
		name, kustomization, values string
	}{
		{"one server", artifacts + "/overlays/standalone", ""},
		{"three servers", artifacts + "/overlays/ha", readFile(t, chart+"/values-ha.yaml")},
		{"cert-manager", artifacts + "/overlays/cert-manager", readFile(t, chart+"/values-cert-manager.yaml")},
		{"every component", "testdata/everything", readFile(t, chart+"/values-ha.yaml") + `
certManager: {enabled: true}
priorityAndFairness: {enabled: true}
serviceMonitor: {enabled: true}
prometheusRules: {enabled: true}
serviceIngress: {enabled: true}
audit: {enabled: true}
podAccess: {enabled: true}
podDebugger: {enabled: true}
referencedSecrets: {enabled: true}
`},
		{"encryption at rest", "testdata/encryption", readFile(t, chart+"/values-ha.yaml") + documentedEncryption(t)},
		{"the network of the host", "testdata/host-network", documentedHostNetwork(t)},
		{"three servers on the network of their hosts", "testdata/host-network-ha", readFile(t, chart+"/values-ha.yaml") + "hostNetwork: {enabled: true}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := build(t, test.kustomization)
			// Helm creates it.
			delete(want, "v1 Namespace <nil>/"+namespace)
			if diff := cmp.Diff(want, render(t, test.values, namespace)); diff != "" {
				t.Errorf("the chart (+) differs from the kustomization (-):\n%s", diff)
			}
		})
	}
}

// TestEveryComponentIsCompared fails for a new component that the chart does not have.
func TestEveryComponentIsCompared(t *testing.T) {
	compared := readFile(t, artifacts+"/overlays/ha/kustomization.yaml")
	for _, name := range []string{"everything", "host-network", "host-network-ha"} {
		compared += readFile(t, "testdata/"+name+"/kustomization.yaml")
	}
	components, err := filepath.Glob(artifacts + "/components/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(components) == 0 {
		t.Fatal("there are no components")
	}
	for _, component := range components {
		if !strings.Contains(compared, "/components/"+filepath.Base(component)+"\n") {
			t.Errorf("%s is not compared with the chart", component)
		}
	}
}

// TestServerHasAMemoryLimit checks the memory limit, without which a growing server could take the memory of other pods on its
// node.
func TestServerHasAMemoryLimit(t *testing.T) {
	for _, overlay := range []string{"standalone", "ha", "ha-with-etcd", "cert-manager"} {
		container := serverContainer(t, build(t, artifacts+"/overlays/"+overlay))
		resources, _ := container["resources"].(map[string]any)
		limits, _ := resources["limits"].(map[string]any)
		if diff := cmp.Diff(map[string]any{"memory": "1Gi"}, limits); diff != "" {
			t.Errorf("overlay %s: the limits, -want +got:\n%s", overlay, diff)
		}
	}
}

func TestReleaseInAnotherNamespaceNamesItEverywhere(t *testing.T) {
	want := objects{}
	for _, object := range build(t, artifacts+"/overlays/standalone") {
		if object["kind"] == "Namespace" {
			continue
		}
		want.add(t, decode(t, strings.ReplaceAll(encode(t, object), namespace, "boxes")))
	}
	container := serverContainer(t, want)
	container["args"] = append(container["args"].([]any),
		"--leader-elect-resource-namespace=boxes",
		"--serving-certificate-secret=boxes/modelbox-apiserver-certificate",
		"--serving-certificate-hosts=modelbox-apiserver.boxes.svc")
	if diff := cmp.Diff(want, render(t, "", "boxes")); diff != "" {
		t.Errorf("the chart (+) differs from what is expected (-):\n%s", diff)
	}
}

func TestValuesReachTheirFields(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for _, test := range []struct{ name, values, want string }{
		{"digest in place of the tag", "image: {repository: r/boxes, tag: v1, digest: '" + digest + "'}", "image: r/boxes@" + digest + "\n"},
		{"tag", "image: {repository: r/boxes, tag: v1}", "image: r/boxes:v1\n"},
		{"pull policy", "image: {pullPolicy: Always}", "imagePullPolicy: Always\n"},
		{"pull secrets", "imagePullSecrets: [{name: registry}]", "imagePullSecrets:\n      - name: registry\n"},
		{"volume", "storage: {size: 20Gi, storageClassName: fast}", "storage: 20Gi\n  storageClassName: fast\n"},
		{"certificate of the etcd", "etcd: {servers: ['https://e:2379'], secretName: keys}", "secretName: keys\n"},
		{"issuer", "certManager: {enabled: true, issuerRef: {name: ours, kind: ClusterIssuer}}", "issuerRef:\n    kind: ClusterIssuer\n    name: ours\n"},
		{"class of Ingresses", "serviceIngress: {enabled: true, class: public}", "- --service-ingress-class=public\n"},
		{"hosts of Ingresses", "serviceIngress: {enabled: true, hostPattern: '{name}.example.com'}", "- --service-ingress-host-pattern={name}.example.com\n"},
		{"further flags", "extraArgs: [-v=2]", "- -v=2\n"},
		{"memory limit", "resources: {limits: {memory: 4Gi}}", "limits:\n            memory: 4Gi\n          requests:\n            cpu: 100m\n            memory: 256Mi\n"},
		{"priority class", "priorityClassName: mine", "priorityClassName: mine\n"},
		{"annotations", "podAnnotations: {a: b}", "annotations:\n        a: b\n"},
		{"node selector", "nodeSelector: {disk: ssd}", "nodeSelector:\n        disk: ssd\n"},
		{"tolerations", "tolerations: [{operator: Exists}]", "tolerations:\n      - operator: Exists\n"},
		{"affinity", "affinity: {nodeAffinity: {}}", "affinity:\n        nodeAffinity: {}\n"},
		{"flag of the port of the host", "hostNetwork: {enabled: true, port: 9000}", "- --secure-port=9000\n"},
		{"port of the host", "hostNetwork: {enabled: true, port: 9000}", "ports:\n        - containerPort: 9000\n          name: https\n"},
		{"affinity beside the one of the host network", "hostNetwork: {enabled: true}\naffinity: {nodeAffinity: {}, podAntiAffinity: " +
			"{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack}]}}", "affinity:\n        nodeAffinity: {}\n" +
			"        podAntiAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n          - topologyKey: rack\n" +
			"          - labelSelector:\n              matchLabels:\n                app.kubernetes.io/name: modelbox-apiserver\n" +
			"            topologyKey: kubernetes.io/hostname\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var all strings.Builder
			for _, object := range render(t, test.values, namespace) {
				all.WriteString(encode(t, object))
			}
			if !strings.Contains(all.String(), test.want) {
				t.Errorf("%q is missing in:\n%s", test.want, all.String())
			}
		})
	}
}

func TestSchemaRefusesNonsense(t *testing.T) {
	for _, test := range []struct{ name, values, want string }{
		{"several servers on one volume", "replicas: 2", "at '/etcd/servers': minItems"},
		{"half a server", "replicas: 1.5", "at '/replicas'"},
		{"unknown value", "replica: 3", "additional properties 'replica' not allowed"},
		{"unknown value inside", "image: {name: x}", "additional properties 'name' not allowed"},
		{"no image", "image: {repository: ''}", "at '/image/repository'"},
		{"neither tag nor digest", "image: {tag: ''}", "at '/image'"},
		{"digest that is none", "image: {digest: latest}", "at '/image/digest'"},
		{"etcd without TLS", "etcd: {servers: ['http://etcd:2379']}", "at '/etcd/servers/0'"},
		{"volume without a size", "storage: {size: big}", "at '/storage/size'"},
		{"issuer without a name", "certManager: {enabled: true, issuerRef: {kind: ClusterIssuer}}", "at '/certManager/issuerRef'"},
		{"word in place of a switch", "networkPolicy: {enabled: sure}", "at '/networkPolicy/enabled'"},
		{"port of the host that needs a capability", "hostNetwork: {enabled: true, port: 443}", "at '/hostNetwork/port'"},
		{"hosts that are the same for all", "serviceIngress: {hostPattern: example.com}", "at '/serviceIngress/hostPattern'"},
		{"flag without a dash", "extraArgs: [v=2]", "at '/extraArgs/0'"},
		{"volume without a name", "extraVolumes: [{emptyDir: {}}]", "at '/extraVolumes/0'"},
		{"mount on a path that is not absolute", "extraVolumeMounts: [{name: keys, mountPath: keys}]", "at '/extraVolumeMounts/0/mountPath'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := renderTemplates(t, test.values, namespace); err == nil {
				t.Error("it is not refused")
			} else if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error does not say %q: %v", test.want, err)
			}
		})
	}
}

func TestLintFindsNothing(t *testing.T) {
	for _, message := range lint.RunAll(chart, nil, namespace).Messages {
		if message.Severity > support.InfoSev {
			t.Error(message)
		}
	}
}

// build returns what a kustomization installs.
func build(t *testing.T, kustomization string) objects {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), kustomization)
	if err != nil {
		t.Fatal(err)
	}
	all := objects{}
	for _, resource := range built.Resources() {
		content, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		all.add(t, decode(t, string(content)))
	}
	return all
}

// render returns what the chart installs with the values.
func render(t *testing.T, values, namespace string) objects {
	t.Helper()
	templates, err := renderTemplates(t, values, namespace)
	if err != nil {
		t.Fatal(err)
	}
	all := objects{}
	for name, content := range templates {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq("\n"+content, "\n---\n") {
			if object := decode(t, document); object != nil {
				all.add(t, object)
			}
		}
	}
	return all
}

// renderTemplates returns the templates of the chart, by their names.
func renderTemplates(t *testing.T, values, namespace string) (map[string]string, error) {
	t.Helper()
	loaded, err := loader.LoadDir(chart)
	if err != nil {
		t.Fatal(err)
	}
	all, err := util.ToRenderValues(loaded, decode(t, values), common.ReleaseOptions{Name: "modelbox", Namespace: namespace}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(loaded, all)
}

// serverContainer returns the container of the server.
func serverContainer(t *testing.T, all objects) map[string]any {
	t.Helper()
	for key, object := range all {
		if strings.Contains(key, " Deployment ") {
			template := object["spec"].(map[string]any)["template"].(map[string]any)
			return template["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
		}
	}
	t.Fatalf("no Deployment is among %v", slices.Sorted(maps.Keys(all)))
	return nil
}

// documentedEncryption returns the values that docs/growth.md has for encryption at rest.
func documentedEncryption(t *testing.T) string {
	t.Helper()
	_, after, _ := strings.Cut(readFile(t, "../../../docs/growth.md"), "\nWith the Helm chart")
	_, values, _ := strings.Cut(after, "```\n")
	values, _, found := strings.Cut(values, "```\n")
	if !found {
		t.Fatal("docs/growth.md has no values of the chart")
	}
	return values
}

func decode(t *testing.T, content string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.UnmarshalStrict([]byte(content), &object); err != nil {
		t.Fatalf("%v in:\n%s", err, content)
	}
	return object
}

func encode(t *testing.T, object map[string]any) string {
	t.Helper()
	content, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
