// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestServerWritesOnlyWhatBoxesControl sends requests with the service account of the server that its permissions allow and its
// admission policy denies.
func TestServerWritesOnlyWhatBoxesControl(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	for _, create := range []string{"deployment foreign --image=nginx:1.7.9 --replicas=0", "service clusterip foreign --tcp=80", "configmap owner"} {
		n.Kubectl.Run(append([]string{"create"}, strings.Fields(create)...)...)
	}
	n.Kubectl.Run("create", "deployment", "others", "--image=nginx:1.7.9", "--replicas=0")
	owner := n.Kubectl.Run("get", "configmap", "owner", "--output=jsonpath={.metadata.uid}")
	n.Kubectl.Run("patch", "deployment", "others", "--type=merge", "-p", fmt.Sprintf(
		`{"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "%s", "controller": true}]}}`, owner))
	box := n.Kubectl.Run("get", "modelbox", "web", "--output=jsonpath={.metadata.uid}")
	controlled := fmt.Sprintf(`{"apiVersion":"model.github.com/v1","kind":"ModelBox","name":"web","uid":"%s","controller":true}`, box)

	const (
		creates       = "modelbox-apiserver creates only what a ModelBox, a ModelStack or a Network controls"
		changes       = "modelbox-apiserver changes only what a ModelBox, a ModelStack or a Network controls or adopts"
		deletes       = "modelbox-apiserver deletes only what a ModelBox, a ModelStack or a Network controls"
		changesClaims = "modelbox-apiserver changes only claims of a ModelBox, or claims that a ModelBox adopts"
		deletesClaims = "modelbox-apiserver deletes only claims of a ModelBox"
		changesPods   = "modelbox-apiserver changes and deletes only pods of the workload of a ModelBox"
		changesSets   = "modelbox-apiserver changes only the resources in the ReplicaSets of a ModelBox"
		nothing       = "modelbox-apiserver writes nothing in the namespaces kube-system and modelbox-system"
	)
	service := func(namespace, owners string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: made, namespace: %s, ownerReferences: [%s]}, spec: {ports: [{port: 80}]}}`, namespace, owners)
	}
	claim := func(name, labels, owners string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: %s, labels: {%s}, ownerReferences: [%s]},
			spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, name, n.Name, labels, owners)
	}
	const ofBox = "app.kubernetes.io/managed-by: modelbox-apiserver, modelbox: web"
	n.Kubectl.RunWithInput(strings.Join([]string{
		claim("foreign", "", ""), claim("retained", ofBox, ""),
		claim("others", ofBox, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, name: owner, uid: %s, controller: true}`, owner)),
		fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: lonely, namespace: %s, labels: {modelbox: db}}, spec: {containers: [{name: main, image: %s}]}}`, n.Name, framework.Image),
		fmt.Sprintf(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: foreign, namespace: %s}, spec: {selector: {matchLabels: {app: set}},
			template: {metadata: {labels: {app: set, modelbox: db}}, spec: {containers: [{name: main, image: %s}]}}}}`, n.Name, framework.Image),
		fmt.Sprintf(`{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: foreign, namespace: %s}, spec: {selector: {matchLabels: {app: set}},
			template: {metadata: {labels: {app: set, modelbox: web}}, spec: {containers: [{name: main, image: %s}]}}}}`, n.Name, framework.Image),
		fmt.Sprintf(`{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: foreign.modelstack.1, namespace: %s}, data: {}, revision: 1}`, n.Name),
	}, "\n---\n"), "create", "-f", "-")
	n.CreateReadyBox(framework.NewBox("db", framework.WithWorkload(modelv1.WorkloadStatefulSet)))
	n.CreateReadyBox(framework.NewBox("agent", framework.WithWorkload(modelv1.WorkloadDaemonSet)))
	// podOf returns the name of a pod with these values of its labels.
	podOf := func(box, app string) (name string) {
		n.Eventually("there is a pod of "+box, func() error {
			pods, err := n.Pods.List(n.Ctx, metav1.ListOptions{LabelSelector: "modelbox=" + box})
			if err != nil {
				return err
			}
			for i := range pods.Items {
				if pods.Items[i].Labels["app"] == app {
					name = pods.Items[i].Name
					return nil
				}
			}
			return errors.New("it is not there")
		})
		return name
	}
	// asIs returns an object in JSON, and replace returns the arguments to replace it.
	asIs := func(object string) string { return n.Kubectl.Run("get", object, "--output=json") }
	replace := func(path string) string {
		return "replace --raw=" + strings.Replace(path, "/namespaces/", "/namespaces/"+n.Name+"/", 1) + "?dryRun=All --filename=-"
	}
	replicaSet := n.Kubectl.Run("get", "replicaset", "--selector=modelbox=web,!app", "--output=jsonpath={.items[?(@.spec.replicas>0)].metadata.name}")
	podOfBox := podOf("web", "")
	for _, test := range []struct {
		name, stdin, arguments, refusal string
	}{
		{"a Service without a controller", service(n.Name, ""), "create -f -", creates},
		{"a Service of another controller", service(n.Name, strings.NewReplacer("ModelBox", "ConfigMap", "model.github.com/v1", "v1").Replace(controlled)), "create -f -", creates},
		{"a Service that a box merely owns", service(n.Name, strings.Replace(controlled, "true", "false", 1)), "create -f -", creates},
		{"a Service of a box", service(n.Name, controlled), "create --dry-run=server -f -", ""},
		{"a Service in kube-system", service("kube-system", controlled), "create --namespace=kube-system -f -", nothing},
		{"a Service in the server's namespace", service("modelbox-system", controlled), "create --namespace=modelbox-system -f -", nothing},
		{"the API's own Service there", "", `patch service modelbox-apiserver --namespace=modelbox-system --type=merge -p {"spec":{"externalName":"evil"}}`, nothing},
		{"a change of a foreign Deployment", "", `patch deployment foreign --type=merge -p {"spec":{"paused":true}}`, changes},
		{"a foreign Deployment into a box's", "", `patch deployment foreign --dry-run=server --type=merge -p {"metadata":{"ownerReferences":[` + controlled + `]},"spec":{"paused":true}}`, ""},
		{"a controlled Deployment into a box's", "", `patch deployment others --type=merge -p {"metadata":{"ownerReferences":[` + controlled + `]}}`, changes},
		{"a box's Deployment into one without a controller", "", `patch deployment web --type=merge -p {"metadata":{"ownerReferences":null}}`, changes},
		{"a foreign Service that goes", "", "delete service foreign", deletes},
		{"a foreign Deployment that goes", "", "delete deployment foreign", deletes},
		{"a box's Deployment that goes", "", "delete deployment web --dry-run=server", ""},
		{"a ControllerRevision without a controller that goes", "", "delete controllerrevision foreign.modelstack.1", deletes},
		{"a claim without a box", claim("made", "", ""), "create -f -", "modelbox-apiserver creates only claims of a ModelBox"},
		{"a claim of a box", claim("made", ofBox, ""), "create --dry-run=server -f -", ""},
		{"a change of a foreign claim", "", `patch pvc foreign --type=merge -p {"metadata":{"labels":{"a":"b"}}}`, changesClaims},
		{"a foreign claim into a box's", "", `patch pvc foreign --dry-run=server --type=merge -p {"metadata":{"labels":{"app.kubernetes.io/managed-by":"modelbox-apiserver","modelbox":"web"}}}`, ""},
		{"a box's claim into one without a box", "", `patch pvc retained --type=merge -p {"metadata":{"labels":null}}`, changesClaims},
		{"a change of a controlled claim", "", `patch pvc others --type=merge -p {"metadata":{"labels":{"a":"b"}}}`, changesClaims},
		{"a foreign claim that goes", "", "delete pvc foreign", deletesClaims},
		{"a controlled claim that goes", "", "delete pvc others", deletesClaims},
		{"a retained claim that goes", "", "delete pvc retained --dry-run=server", ""},
		{"a pod without a controller that goes", "", "delete pod lonely", changesPods},
		{"a pod of a StatefulSet that is no box's", "", "delete pod foreign-0", changesPods},
		{"a pod of a ReplicaSet that is no box's", "", "delete pod " + podOf("web", "set"), changesPods},
		{"a pod of a box's StatefulSet that goes", "", "delete pod db-0 --dry-run=server", ""},
		{"a pod of a box's Deployment that goes", "", "delete pod " + podOf("web", "") + " --dry-run=server", ""},
		{"a resize of a pod that is no box's", asIs("pod/foreign-0"), replace("/api/v1/namespaces/pods/foreign-0/resize"), changesPods},
		{"a resize of a pod of a box", asIs("pod/" + podOfBox), replace("/api/v1/namespaces/pods/" + podOfBox + "/resize"), ""},
		{"a change of a foreign ReplicaSet", asIs("replicaset/foreign"), replace("/apis/apps/v1/namespaces/replicasets/foreign"), changesSets},
		{"a change of a box's ReplicaSet", asIs("replicaset/" + replicaSet), replace("/apis/apps/v1/namespaces/replicasets/" + replicaSet), ""},
		{"another image in a box's ReplicaSet", strings.ReplaceAll(asIs("replicaset/"+replicaSet), framework.Image, "evil:1"), replace("/apis/apps/v1/namespaces/replicasets/" + replicaSet), changesSets},
		{"a pod of a box's DaemonSet that goes", "", "delete pod " + podOf("agent", "") + " --dry-run=server", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			// Arguments do not contain spaces.
			arguments := append(strings.Split(test.arguments, " "), "--as="+framework.ServerUser)
			run := framework.RunKubectl(n.In(t).Kubectl.Command(arguments...), test.stdin)
			switch {
			case test.refusal == "" && run.Err != nil:
				t.Errorf("it is refused: %s", run.Stderr)
			case test.refusal != "" && !strings.Contains(run.Stderr, test.refusal):
				t.Errorf("want %q, got %s %s", test.refusal, run.Stdout, run.Stderr)
			}
		})
	}
}

// TestServerChangesOnlyTheRevisionOfPods patches pods with the service account of the server, which may not get them.
func TestServerChangesOnlyTheRevisionOfPods(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("db", framework.WithWorkload(modelv1.WorkloadStatefulSet)))
	n.Kubectl.RunWithInput(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: lonely, namespace: %s, labels: {modelbox: db}}, spec: {containers: [{name: main, image: %s}]}}`,
		n.Name, framework.Image), "create", "-f", "-")
	client, err := kubernetes.NewForConfig(n.ControlPlane.ConfigAs(framework.ServerUser))
	if err != nil {
		t.Fatal(err)
	}
	const (
		revision = `{"metadata":{"labels":{"controller-revision-hash":"b","pod-template-generation":"2"}}}`
		notABox  = "modelbox-apiserver changes and deletes only pods of the workload of a ModelBox"
		notThese = "modelbox-apiserver changes only the labels of pods that name their revision"
	)
	for _, test := range []struct{ name, pod, patch, refusal string }{
		{"the revision of a pod of a box", "db-0", revision, ""},
		{"the revision of a pod without a controller", "lonely", revision, notABox},
		{"another label", "db-0", `{"metadata":{"labels":{"app":"evil"}}}`, notThese},
		{"a label that goes", "db-0", `{"metadata":{"labels":{"statefulset.kubernetes.io/pod-name":null}}}`, notThese},
		{"an annotation", "db-0", `{"metadata":{"annotations":{"app":"evil"}}}`, notThese},
		{"a finalizer", "db-0", `{"metadata":{"finalizers":["example.com/evil"]}}`, notThese},
		{"an image", "db-0", `{"spec":{"containers":[{"name":"db","image":"evil:1"}]}}`, notThese},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := client.CoreV1().Pods(n.Name).Patch(n.Ctx, test.pod, types.StrategicMergePatchType, []byte(test.patch), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			if test.refusal == "" && err != nil || test.refusal != "" && (err == nil || !strings.Contains(err.Error(), test.refusal)) {
				t.Errorf("got %v, want %q", err, test.refusal)
			}
		})
	}
}

// TestServerIsNeverRefusedByItsPolicy checks all requests of the server to the cluster so far.
func TestServerIsNeverRefusedByItsPolicy(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	for _, request := range framework.ReadAuditLog(t, n.ControlPlane.ClusterAuditLog(), "ValidatingAdmissionPolicy") {
		if request.User.Username == framework.ServerUser && request.ResponseStatus != nil && request.ResponseStatus.Code == 403 {
			t.Errorf("the server may not %s %s: %s", request.Verb, request.RequestURI, request.ResponseStatus.Message)
		}
	}
}

// TestServerPodCompliesWithPodSecurity creates the pods of the server with a dry run in its namespace, which enforces restricted.
func TestServerPodCompliesWithPodSecurity(t *testing.T) {
	t.Parallel()
	manifest, err := os.ReadFile(framework.InRepository("artifacts", "base", "deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict(manifest, deployment); err != nil {
		t.Fatal(err)
	}
	template := deployment.Spec.Template
	try := func(spec corev1.PodSpec) error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "modelbox-apiserver-", Labels: template.Labels}, Spec: spec}
		_, err := framework.SharedControlPlane().KubeClient.CoreV1().Pods(deployment.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	if err := try(template.Spec); err != nil {
		t.Error(err)
	}
	laxer := *template.Spec.DeepCopy()
	laxer.SecurityContext = nil
	if err := try(laxer); err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("a pod that does not comply: %v", err)
	}
}
