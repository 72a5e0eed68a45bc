// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// escalations are changes of boxes that could give their authors further permissions, with the field of each. They are merged into
// a box with an image and the port 80.
var escalations = []struct{ name, box, field string }{
	{"act as another ServiceAccount", "spec: {serviceAccountName: robot}", "spec.serviceAccountName"},
	{"act as another ServiceAccount, in the overlay", "spec: {podTemplate: {spec: {serviceAccountName: robot}}}", "spec.podTemplate.spec.serviceAccountName"},
	{"mount the token that the ServiceAccount holds back", "spec: {podTemplate: {spec: {automountServiceAccountToken: true}}}", "spec.podTemplate.spec.automountServiceAccountToken"},
	{"get a token for another audience", "spec: {volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: t, audience: vault}}]}}]}", "spec.volumes[0].projected.sources[0].serviceAccountToken"},
	{"read a Secret in a variable", "spec: {envs: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}", "spec.envs[0].valueFrom.secretKeyRef"},
	{"read a Secret in all variables", "spec: {envFrom: [{secretRef: {name: s}}]}", "spec.envFrom[0].secretRef"},
	{"read a Secret in a volume", "spec: {volumes: [{name: a, secret: {secretName: s}}]}", "spec.volumes[0].secret"},
	{"read a Secret in a sidecar", "spec: {containers: [{name: b, image: 'b:1', envFrom: [{secretRef: {name: s}}]}]}", "spec.containers[0].envFrom[0].secretRef"},
	{"read a Secret in the overlay", "spec: {podTemplate: {spec: {containers: [{name: web, envFrom: [{secretRef: {name: s}}]}]}}}", "spec.podTemplate.spec.containers[0].envFrom[0].secretRef"},
	{"pull with the credentials of others", "spec: {imagePullSecrets: [{name: s}]}", "spec.imagePullSecrets"},
	{"read the data of others", "spec: {volumes: [{name: a, persistentVolumeClaim: {claimName: c}}]}", "spec.volumes[0].persistentVolumeClaim"},
	{"mount the host", "spec: {volumes: [{name: a, hostPath: {path: /}}]}", "spec.volumes[0].hostPath"},
	{"reach the host's network", "spec: {podTemplate: {spec: {hostNetwork: true}}}", "spec.podTemplate.spec.hostNetwork"},
	{"see the host's processes", "spec: {podTemplate: {spec: {hostPID: true}}}", "spec.podTemplate.spec.hostPID"},
	{"be privileged", "spec: {initContainers: [{name: a, image: 'a:1', securityContext: {privileged: true}}]}", "spec.initContainers[0].securityContext.privileged"},
	{"get a capability", "spec: {containers: [{name: b, image: 'b:1', securityContext: {capabilities: {add: [SYS_ADMIN]}}}]}", "spec.containers[0].securityContext.capabilities.add[0]"},
	{"take a port of the host", "spec: {containers: [{name: b, image: 'b:1', ports: [{containerPort: 81, hostPort: 81}]}]}", "spec.containers[0].ports[0].hostPort"},
	{"let the kubelet ask another host", "spec: {livenessProbe: {httpGet: {port: 80, host: 169.254.169.254}}}", "spec.livenessProbe.httpGet.host"},
	{"run on every node", "spec: {workload: DaemonSet, replicas: null}", "spec.workload"},
	{"run on the control plane", "spec: {podTemplate: {spec: {tolerations: [{operator: Exists}]}}}", "spec.podTemplate.spec.tolerations"},
	{"run past the scheduler", "spec: {podTemplate: {spec: {nodeName: node-0}}}", "spec.podTemplate.spec.nodeName"},
	{"preempt others", "spec: {podTemplate: {spec: {priorityClassName: system-cluster-critical}}}", "spec.podTemplate.spec.priorityClassName"},
	{"run under another runtime", "spec: {podTemplate: {spec: {runtimeClassName: host}}}", "spec.podTemplate.spec.runtimeClassName"},
	{"get the traffic of another Service", "spec: {labels: {app: payments}}", "spec.labels[app]"},
	{"set up the network of the pods", "spec: {annotations: {k8s.v1.cni.cncf.io/networks: admin}}", "spec.annotations[k8s.v1.cni.cncf.io/networks]"},
	{"take a node port", "spec: {ports: [{port: 80, nodePort: 31998}]}", "spec.ports[0].nodePort"},
	{"get some node port", "spec: {serviceType: NodePort}", "spec.serviceType"},
	{"get a load balancer", "spec: {serviceType: LoadBalancer}", "spec.serviceType"},
	{"get a DNS name", "spec: {service: {annotations: {external-dns.alpha.kubernetes.io/hostname: www.example.com}}}", "spec.service.annotations[external-dns.alpha.kubernetes.io/hostname]"},
	{"scale", "spec: {autoscaling: {maxReplicas: 5, metrics: [{type: Pods, pods: {metric: {name: m}, target: {type: AverageValue, averageValue: '1'}}}]}}", "spec.autoscaling"},
	{"keep nodes from being drained", "spec: {disruptionBudget: {maxUnavailable: 0}}", "spec.disruptionBudget"},
	{"take over what there is", "metadata: {annotations: {model.github.com/adopt: 'true'}}", "metadata.annotations[model.github.com/adopt]"},
}

// TestCreateCannotEscalate creates these boxes as a user with permissions on boxes only, and as a user with permissions on
// Deployments and Services.
func TestCreateCannotEscalate(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.Run("create", "role", "boxes", "--verb=create,get,update,patch", "--resource=modelboxes.model.github.com")
	n.Kubectl.Run("create", "rolebinding", "weak", "--role=boxes", "--user=weak")
	n.Kubectl.Run("create", "rolebinding", "editor", "--clusterrole=edit", "--user=editor")
	n.Kubectl.AwaitAllowed("weak", "create modelboxes.model.github.com")
	n.Kubectl.AwaitAllowed("editor", "create deployments.apps")
	weak, editor := n.BoxesAs("weak"), n.BoxesAs("editor")
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

	for _, test := range escalations {
		t.Run(test.name, func(t *testing.T) {
			box := framework.NewBox("web")
			if err := yaml.UnmarshalStrict([]byte(test.box), box); err != nil {
				t.Fatal(err)
			}
			for _, options := range []metav1.CreateOptions{{}, dryRun} {
				_, err := weak.Create(n.Ctx, box, options)
				if err := expectForbidden(err, "weak", test.field); err != nil {
					t.Error(err)
				}
			}
			if _, err := editor.Create(n.Ctx, box, dryRun); err != nil {
				t.Errorf("a user with the role edit: %v", err)
			}
		})
	}

	if _, err := weak.Create(n.Ctx, framework.NewBox("ordinary"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitReady("ordinary")
}

// TestUpdateCannotEscalate changes a box of an administrator as a user with permissions on boxes only.
func TestUpdateCannotEscalate(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.Run("create", "role", "boxes", "--verb=create,get,update,patch", "--resource=modelboxes.model.github.com,modelboxes.model.github.com/scale")
	n.Kubectl.Run("create", "rolebinding", "weak", "--role=boxes", "--user=weak")
	n.Kubectl.AwaitAllowed("weak", "patch modelboxes.model.github.com")
	weak := n.BoxesAs("weak")
	n.CreateReadyBox(framework.NewBox("web", func(spec *modelv1.ModelBoxSpec) {
		if err := yaml.UnmarshalStrict([]byte(`
serviceType: NodePort
envs: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}]
podTemplate: {spec: {priorityClassName: system-cluster-critical, tolerations: [{key: a, operator: Exists}]}}`), spec); err != nil {
			t.Fatal(err)
		}
	}))

	allowed := func(what string, patchType types.PatchType, patch string, options metav1.PatchOptions) {
		t.Helper()
		if _, err := weak.Patch(n.Ctx, "web", patchType, []byte(patch), options); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused := func(what, field string, patchType types.PatchType, patch string, options metav1.PatchOptions) {
		t.Helper()
		_, err := weak.Patch(n.Ctx, "web", patchType, []byte(patch), options)
		if err := expectForbidden(err, "weak", field); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	none := metav1.PatchOptions{}
	apply := metav1.PatchOptions{FieldManager: "weak", Force: ptr.To(true)}
	dryRun := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
	const head = "apiVersion: model.github.com/v1\nkind: ModelBox\nmetadata: {name: web}\n"

	allowed("another image", types.MergePatchType, `{"spec": {"image": "nginx:1.8"}}`, none)
	allowed("a label of the box", types.MergePatchType, `{"metadata": {"labels": {"team": "shop"}}}`, none)
	allowed("a variable and a port more", types.StrategicMergePatchType, `{"spec": {"envs": [{"name": "B", "value": "b"}], "ports": [{"port": 81, "name": "more"}, {"port": 80, "name": "http"}]}}`, none)
	allowed("replicas", types.MergePatchType, `{"spec": {"replicas": 2}}`, none)
	n.Kubectl.Run("scale", "modelbox/web", "--replicas=1", "--as=weak")
	allowed("an ordinary field, applied", types.ApplyPatchType, head+"spec: {minReadySeconds: 0}", apply)
	allowed("a toleration less", types.MergePatchType, `{"spec": {"podTemplate": {"spec": {"tolerations": null}}}}`, none)

	refused("a toleration again", "spec.podTemplate.spec.tolerations", types.MergePatchType, `{"spec": {"podTemplate": {"spec": {"tolerations": [{"operator": "Exists"}]}}}}`, none)
	refused("another Secret", "spec.envs[1].valueFrom.secretKeyRef", types.StrategicMergePatchType, `{"spec": {"envs": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "other"}}}]}}`, none)
	refused("a volume", "spec.volumes[0].hostPath", types.JSONPatchType, `[{"op": "add", "path": "/spec/volumes", "value": [{"name": "a", "hostPath": {"path": "/"}}]}]`, none)
	refused("a ServiceAccount, applied", "spec.serviceAccountName", types.ApplyPatchType, head+"spec: {serviceAccountName: robot}", apply)
	refused("a ServiceAccount, tried", "spec.serviceAccountName", types.MergePatchType, `{"spec": {"serviceAccountName": "robot"}}`, dryRun)
	refused("adoption", "metadata.annotations[model.github.com/adopt]", types.MergePatchType, `{"metadata": {"annotations": {"model.github.com/adopt": "true"}}}`, none)
	_, err := weak.Patch(n.Ctx, "new", types.ApplyPatchType, []byte(strings.Replace(head, "web", "new", 1)+"spec: {image: 'a:1', serviceAccountName: robot}"), apply)
	if err := expectForbidden(err, "weak", "spec.serviceAccountName"); err != nil {
		t.Errorf("a box that is made by applying it: %v", err)
	}
	n.AwaitReady("web")
}

// expectForbidden returns nil for the refusal of a field.
func expectForbidden(err error, user, field string) error {
	switch {
	case err == nil:
		return errors.New("it is not refused")
	case !apierrors.IsForbidden(err) || !framework.ContainsAll(err.Error(), []string{field + ": beyond", fmt.Sprintf("user %q cannot", user)}):
		return fmt.Errorf("it is refused for something else than %s: %w", field, err)
	}
	return nil
}
