// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// databaseImage starts like the images of MySQL. It only exists if it can be built from Debian packages.
const databaseImage = "localcluster/mariadb:1"

// dataServiceRuns checks that the sample of a stack with a slow database starts in order, responds through all components, can be
// isolated, and leaves no objects after its deletion.
func dataServiceRuns(n *framework.Namespace) {
	isRealDatabase := hasImage("localcluster-mariadb-1.tar")
	createDataService(n, isRealDatabase)
	n.Kubectl.Run("wait", "modelstack/dataservice", "--for=condition=Ready", "--timeout=5m")

	stack, err := n.ControlPlane.ModelClient.ModelV1().ModelStacks(n.Name).Get(n.Ctx, "dataservice", metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	expectStartInOrder(n, stack)
	framework.ExpectEqual(n.T, "Services", []string{"api-manager", "auth", "ds-adapter", "es-adapter", "eureka", "gateway-master",
		"gateway-web", "mysql-dataservice", "proxy", "trd-adapter", "uuc", "web"}, namesOf(n, "services"))
	framework.ExpectEqual(n.T, "ConfigMaps", []string{"api-manager", "auth", "ds-adapter", "es-adapter", "gateway-master",
		"gateway-web", "kube-root-ca.crt", "mysql-dataservice", "mysql-dataservice-init", "proxy", "trd-adapter", "trd-adapter-py", "web",
		"web-template"}, namesOf(n, "configmaps"))
	if !slices.Contains(namesOf(n, "pods"), "mysql-dataservice-0") {
		n.T.Error("there is no pod mysql-dataservice-0")
	}

	const apiManager = "/via/gateway-web/via/gateway-master/via/api-manager"
	for way, want := range map[string]string{
		apiManager + "/connect/mysql":                                "connected to mysql-dataservice",
		apiManager + "/via/auth/files/etc/nginx/conf.d/default.conf": "listen 9081;",
	} {
		if answer := awaitAnswer(n, "web", way); !strings.Contains(answer, want) {
			n.T.Errorf("%s answers %q, want %q in it", way, answer, want)
		}
	}
	if isRealDatabase {
		rows := n.Kubectl.Run("exec", "mysql-dataservice-0", "--", "mariadb", "--batch", "--skip-column-names",
			"--execute=SELECT name FROM dataservice.users")
		framework.ExpectEqual(n.T, "rows that the files of the database make", "admin", strings.TrimSpace(rows))
	}

	isolationClosesConnections(n, stack)

	n.Kubectl.Run("delete", "modelstack/dataservice", "--timeout=5m")
	n.Eventually("nothing is left of the stack", func() error {
		if left := namesOf(n, "modelboxes,pods,services,configmaps"); !slices.Equal(left, []string{"kube-root-ca.crt"}) {
			return fmt.Errorf("there are %q", left)
		}
		return nil
	})
}

// createDataService creates the objects of the sample, with images of the container node.
func createDataService(n *framework.Namespace, isRealDatabase bool) {
	n.T.Helper()
	data, err := os.ReadFile(framework.Sample("dataservice.yaml"))
	if err != nil {
		n.T.Fatal(err)
	}
	for _, document := range strings.Split(string(data), "\n---\n") {
		if !strings.Contains(document, "kind: ModelStack") {
			n.Kubectl.RunWithInput(document, "apply", "--filename=-")
			continue
		}
		stack := &modelv1.ModelStack{}
		if err := yaml.UnmarshalStrict([]byte(document), stack); err != nil {
			n.T.Fatal(err)
		}
		for i := range stack.Spec.Components {
			if box := stack.Spec.Components[i].Box; box != nil {
				runOnContainerNode(box, isRealDatabase)
			}
		}
		if _, err := n.ControlPlane.ModelClient.ModelV1().ModelStacks(n.Name).Create(n.Ctx, stack, metav1.CreateOptions{}); err != nil {
			n.T.Fatalf("creating the stack of the sample: %v", err)
		}
	}
}

// runOnContainerNode replaces the image of a box by the test application, and the database by the available database image.
func runOnContainerNode(box *modelv1.ModelBoxSpec, isRealDatabase bool) {
	isDatabase := strings.HasPrefix(box.Image, "mysql:")
	if isDatabase && isRealDatabase {
		box.Image = databaseImage
		return
	}
	box.Image, box.Command, box.ReadinessProbe = appImage, nil, nil
	box.Args = []string{fmt.Sprintf("-port=%d", box.Ports[0].Port)}
	if isDatabase {
		box.Args = append(box.Args, "-listen-after=20s")
	}
}

// expectStartInOrder checks that the box of every component was created after all of its dependencies were ready.
func expectStartInOrder(n *framework.Namespace, stack *modelv1.ModelStack) {
	n.T.Helper()
	boxes := map[string]*modelv1.ModelBox{}
	for _, component := range stack.Spec.Components {
		if component.Box != nil {
			boxes[component.Name] = n.GetBox(component.BoxName)
		}
	}
	for _, component := range stack.Spec.Components {
		for _, dependency := range component.DependsOn {
			before, after := boxes[dependency], boxes[component.Name]
			if before == nil {
				continue // outside
			}
			ready := meta.FindStatusCondition(before.Status.Conditions, modelv1.ConditionReady)
			if ready == nil || after.CreationTimestamp.Time.Before(ready.LastTransitionTime.Time) {
				n.T.Errorf("%s was created at %s, before %s was ready: %v", component.Name, after.CreationTimestamp, dependency, ready)
			}
		}
	}
}

// namesOf returns the names of all objects of the kinds, sorted.
func namesOf(n *framework.Namespace, kinds string) []string {
	n.T.Helper()
	names := strings.Fields(n.Kubectl.Run("get", kinds, "--output=jsonpath={.items[*].metadata.name}"))
	slices.Sort(names)
	return names
}
