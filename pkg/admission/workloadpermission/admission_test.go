// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestValidate(t *testing.T) {
	const (
		forbidden   = `modelboxes.model.github.com "web" is forbidden: `
		noMore      = `: beyond an ordinary application, and user "jane" cannot `
		noRun       = noMore + `create resource "deployments" in API group "apps" in the namespace "default"`
		noExpose    = noMore + `create resource "services" in API group "" in the namespace "default"`
		noConfigure = noMore + `create resource "configmaps" in API group "" in the namespace "default"`
		files       = "configs: [{name: a, mountPath: /a, data: {a: '1'}}]"
		noClaim     = noMore + `create resource "persistentvolumeclaims" in API group "" in the namespace "default"`
		noLeadIn    = noMore + `create resource "ingresses" in API group "networking.k8s.io" in the namespace "default"`
		ingress     = "ports: [{port: 80}], ingress: {hosts: [web.example.com]}"
		account     = "serviceAccountName: robot"
		storage     = "storage: [{name: a, mountPath: /a, size: 1Gi}]"
		nodePort    = "ports: [{port: 80, nodePort: 30010}]"
		adoptedPath = "metadata.annotations[model.github.com/adopt]"
		scaled      = "autoscaling: {maxReplicas: 3, cpu: 70}"
		noAutoscale = noMore + `create resource "horizontalpodautoscalers" in API group "autoscaling" in the namespace "default"`
		budget      = "disruptionBudget: {maxUnavailable: 1}"
		noJob       = noMore + `create resource "jobs" in API group "batch" in the namespace "default"`
		noBudget    = noMore + `create resource "poddisruptionbudgets" in API group "policy" in the namespace "default"`
	)
	for _, row := range []struct {
		name     string
		granted  []string
		old, box *model.ModelBox
		asked    []string
		err      string
	}{
		{"an ordinary box asks for nothing", nil, nil, newBox(t, "ports: [{port: 80}]"), nil, ""},
		{"an ordinary box is rolled out in any way", nil, nil,
			newBox(t, "progressDeadlineSeconds: 60, revisionHistoryLimit: 2, rollout: {onFailure: Rollback, type: Canary, steps: [{weight: 50, pause: Manual}]}"), nil, ""},
		{"an ordinary StatefulSet is rolled out in any way", nil, nil, newBox(t, "workload: StatefulSet, podManagementPolicy: Parallel, rollout: {onFailure: Pause}"), nil, ""},
		{"what runs needs Deployments", nil, nil, newBox(t, account), []string{createDeployments}, "spec.serviceAccountName" + noRun},
		{"who has them may", []string{createDeployments}, nil, newBox(t, account), []string{createDeployments}, ""},
		{"Services do not stand in for them", []string{createServices}, nil, newBox(t, account), []string{createDeployments}, "spec.serviceAccountName" + noRun},
		{"how it is exposed needs Services", []string{createDeployments}, nil, newBox(t, nodePort), []string{createServices}, "spec.ports[0].nodePort" + noExpose},
		{"who has them may expose it", []string{createServices}, nil, newBox(t, nodePort), []string{createServices}, ""},
		{"a permission is asked for once, and all that it is missing for is named", nil, nil, newBox(t, account+", imagePullSecrets: [{name: a}], "+nodePort),
			[]string{createDeployments, createServices},
			"spec.imagePullSecrets, spec.serviceAccountName" + noRun + "; spec.ports[0].nodePort" + noExpose},
		{"labels are for both", []string{createDeployments}, nil, newBox(t, "labels: {app: payments}"), []string{createDeployments, createServices},
			"spec.labels[app]" + noExpose},
		{"storage needs claims", []string{createDeployments}, nil, newBox(t, storage), []string{createDeployments, createClaims},
			"spec.storage" + noClaim},
		{"and what runs with them, which may be there already", []string{createClaims}, nil, newBox(t, storage), []string{createDeployments, createClaims},
			"spec.storage" + noRun},
		{"who has both may have storage", []string{createDeployments, createClaims}, nil, newBox(t, storage), []string{createDeployments, createClaims}, ""},

		{"what runs in a StatefulSet needs StatefulSets", []string{createDeployments}, nil, newBox(t, "workload: StatefulSet, "+account), []string{createStatefulSets},
			"spec.serviceAccountName" + noMore + `create resource "statefulsets" in API group "apps" in the namespace "default"`},
		{"labels of a StatefulSet are for both", []string{createStatefulSets, createServices}, nil, newBox(t, "workload: StatefulSet, labels: {app: payments}"),
			[]string{createStatefulSets, createServices}, ""},
		{"a DaemonSet needs DaemonSets", []string{createDeployments, createStatefulSets}, nil, newBox(t, "workload: DaemonSet"), []string{createDaemonSets},
			"spec.workload" + noMore + `create resource "daemonsets" in API group "apps" in the namespace "default"`},
		{"what runs in a DaemonSet needs them as well", nil, nil, newBox(t, "workload: DaemonSet, "+account), []string{createDaemonSets},
			"spec.serviceAccountName, spec.workload" + noMore + `create resource "daemonsets" in API group "apps" in the namespace "default"`},
		{"a DaemonSet stays one", nil, newBox(t, "workload: DaemonSet"), newBox(t, "workload: DaemonSet, minReadySeconds: 1"), nil, ""},

		{"adoption needs update and delete of the object itself", nil, nil, newBox(t, "", adopting), []string{updateDeployment, deleteDeployment},
			adoptedPath + noMore + `update resource "deployments" named "web" in API group "apps" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "deployments" named "web" in API group "apps" in the namespace "default"`},
		{"and of the Service where there is one", []string{updateDeployment, deleteDeployment, updateService}, nil, newBox(t, "ports: [{port: 80}]", adopting),
			[]string{updateDeployment, deleteDeployment, updateService, deleteService},
			adoptedPath + noMore + `delete resource "services" named "web" in API group "" in the namespace "default"`},
		{"and of both Services of a StatefulSet", nil, nil, newBox(t, "workload: StatefulSet, ports: [{port: 80}]", adopting),
			[]string{
				"jane: update statefulsets.apps/web in default", "jane: delete statefulsets.apps/web in default",
				updateService, deleteService,
				"jane: update services./web-headless in default", "jane: delete services./web-headless in default",
			},
			adoptedPath + noMore + `update resource "statefulsets" named "web" in API group "apps" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "statefulsets" named "web" in API group "apps" in the namespace "default"; ` +
				adoptedPath + noMore + `update resource "services" named "web" in API group "" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "services" named "web" in API group "" in the namespace "default"; ` +
				adoptedPath + noMore + `update resource "services" named "web-headless" in API group "" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "services" named "web-headless" in API group "" in the namespace "default"`},
		{"and of the only Service of a StatefulSet where that is headless",
			[]string{"jane: update statefulsets.apps/web in default", "jane: delete statefulsets.apps/web in default", updateService, deleteService}, nil,
			newBox(t, "workload: StatefulSet, serviceType: Headless, ports: [{port: 80}]", adopting),
			[]string{"jane: update statefulsets.apps/web in default", "jane: delete statefulsets.apps/web in default", updateService, deleteService}, ""},
		{"and of the claims of storage", []string{createDeployments, createClaims, updateDeployment, deleteDeployment, updateClaim}, nil, newBox(t, storage, adopting),
			[]string{updateDeployment, deleteDeployment, updateClaim, deleteClaim, createDeployments, createClaims},
			adoptedPath + noMore + `delete resource "persistentvolumeclaims" named "web-a" in API group "" in the namespace "default"`},
		{"who has them may adopt", []string{updateDeployment, deleteDeployment}, nil, newBox(t, "", adopting), []string{updateDeployment, deleteDeployment}, ""},
		{"a box that asks to adopt already", nil, newBox(t, "", adopting), newBox(t, "replicas: 2", adopting), nil, ""},
		{"a box that asks to adopt from now on", nil, newBox(t, ""), newBox(t, "", adopting), []string{updateDeployment, deleteDeployment},
			adoptedPath + noMore + `update resource "deployments" named "web" in API group "apps" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "deployments" named "web" in API group "apps" in the namespace "default"`},
		{"a box that asks to adopt and gets a Service", nil, newBox(t, "", adopting), newBox(t, "ports: [{port: 80}]", adopting),
			[]string{updateService, deleteService},
			adoptedPath + noMore + `update resource "services" named "web" in API group "" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "services" named "web" in API group "" in the namespace "default"`},
		{"a box that asks to adopt and gets a candidate", []string{updateDeployment, deleteDeployment}, newBox(t, "", adopting), newBox(t, "rollout: {type: Canary, steps: [{weight: 50}]}", adopting),
			[]string{updateCandidate, deleteCandidate},
			adoptedPath + noMore + `update resource "deployments" named "web-canary" in API group "apps" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "deployments" named "web-canary" in API group "apps" in the namespace "default"`},
		{"and a candidate with a Service", []string{updateCandidate, deleteCandidate}, newBox(t, "ports: [{port: 80}]", adopting), newBox(t, "ports: [{port: 80}], rollout: {type: BlueGreen}", adopting),
			[]string{updateCandidate, deleteCandidate, "jane: update services./web-canary in default", "jane: delete services./web-canary in default"},
			adoptedPath + noMore + `update resource "services" named "web-canary" in API group "" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "services" named "web-canary" in API group "" in the namespace "default"`},
		{"and a StatefulSet with steps, which has no candidate", nil, newBox(t, "workload: StatefulSet", adopting),
			newBox(t, "workload: StatefulSet, rollout: {type: Canary, steps: [{weight: 50}]}", adopting), nil, ""},
		{"a box that stops asking to adopt", nil, newBox(t, "", adopting), newBox(t, ""), nil, ""},

		{"files need ConfigMaps", []string{createDeployments}, nil, newBox(t, files), []string{createConfigMaps}, "spec.configs[0].data" + noConfigure},
		{"who has them may bring files", []string{createConfigMaps}, nil, newBox(t, files), []string{createConfigMaps}, ""},
		{"an update that changes a file", nil, newBox(t, files), newBox(t, "configs: [{name: a, mountPath: /a, data: {a: '2'}}]"), []string{createConfigMaps},
			"spec.configs[0].data" + noConfigure},
		{"an update that gives files to a ConfigMap of another name", nil, newBox(t, files), newBox(t, "configs: [{name: b, mountPath: /a, data: {a: '1'}}]"),
			[]string{createConfigMaps}, "spec.configs[0].data" + noConfigure},
		{"an update that shows files elsewhere, and in another way", nil, newBox(t, files),
			newBox(t, "configs: [{name: a, mountPath: /b, data: {a: '1'}, rollout: Live}]"), nil, ""},
		{"a box that asks to adopt and gets files", []string{createConfigMaps}, newBox(t, "", adopting), newBox(t, files, adopting),
			[]string{updateConfigMap, deleteConfigMap, createConfigMaps},
			adoptedPath + noMore + `update resource "configmaps" named "web-a" in API group "" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "configmaps" named "web-a" in API group "" in the namespace "default"`},

		{"an Ingress needs Ingresses", []string{createServices}, nil, newBox(t, ingress), []string{createIngresses}, "spec.ingress" + noLeadIn},
		{"who has them may have one", []string{createIngresses}, nil, newBox(t, ingress), []string{createIngresses}, ""},
		{"an update that changes a host", nil, newBox(t, ingress), newBox(t, "ports: [{port: 80}], ingress: {hosts: [other.example.com]}"),
			[]string{createIngresses}, "spec.ingress" + noLeadIn},
		{"an update beside an Ingress", nil, newBox(t, ingress), newBox(t, ingress+", replicas: 2"), nil, ""},
		{"a route needs HTTPRoutes", []string{createIngresses}, nil, newBox(t, "ports: [{port: 80}], route: {parentRefs: [{name: public}]}"), []string{createHTTPRoutes},
			"spec.route" + noMore + `create resource "httproutes" in API group "gateway.networking.k8s.io" in the namespace "default"`},
		{"a GRPCRoute needs GRPCRoutes", []string{createHTTPRoutes}, nil, newBox(t, "ports: [{port: 80}], grpcRoute: {parentRefs: [{name: public}]}"), []string{createGRPCRoutes},
			"spec.grpcRoute" + noMore + `create resource "grpcroutes" in API group "gateway.networking.k8s.io" in the namespace "default"`},
		{"a box that asks to adopt and gets an Ingress", []string{createIngresses}, newBox(t, "ports: [{port: 80}]", adopting), newBox(t, ingress, adopting),
			[]string{"jane: update ingresses.networking.k8s.io/web in default", "jane: delete ingresses.networking.k8s.io/web in default", createIngresses},
			adoptedPath + noMore + `update resource "ingresses" named "web" in API group "networking.k8s.io" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "ingresses" named "web" in API group "networking.k8s.io" in the namespace "default"`},
		{"autoscaling needs autoscalers", []string{createDeployments}, nil, newBox(t, scaled), []string{createAutoscalers}, "spec.autoscaling" + noAutoscale},
		{"who has them may autoscale", []string{createAutoscalers}, nil, newBox(t, scaled), []string{createAutoscalers}, ""},
		{"an update that scales it further", nil, newBox(t, scaled), newBox(t, "autoscaling: {maxReplicas: 4, cpu: 70}"), []string{createAutoscalers},
			"spec.autoscaling" + noAutoscale},
		{"an update of a box that is autoscaled", nil, newBox(t, scaled), newBox(t, scaled+", replicas: 2"), nil, ""},
		{"the command of a Job is ordinary", []string{createDeployments}, nil,
			newBox(t, "before: {command: [migrate], envs: [{name: A, value: b}]}, after: {args: [test], backoffLimit: 0}"), nil, ""},
		{"a Job with a Secret needs Jobs", []string{createDeployments}, nil,
			newBox(t, "before: {command: [migrate], envs: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}"), []string{createJobs},
			"spec.before.envs[0].valueFrom.secretKeyRef" + noJob},
		{"a budget needs budgets", []string{createDeployments}, nil, newBox(t, budget), []string{createBudgets}, "spec.disruptionBudget" + noBudget},
		{"who has them may limit evictions", []string{createBudgets}, nil, newBox(t, budget), []string{createBudgets}, ""},
		{"a box that asks to adopt and gets both", []string{createAutoscalers, createBudgets, updateAutoscaler, updateBudget},
			newBox(t, "", adopting), newBox(t, scaled+", "+budget, adopting),
			[]string{updateAutoscaler, deleteAutoscaler, updateBudget, deleteBudget, createAutoscalers, createBudgets},
			adoptedPath + noMore + `delete resource "horizontalpodautoscalers" named "web" in API group "autoscaling" in the namespace "default"; ` +
				adoptedPath + noMore + `delete resource "poddisruptionbudgets" named "web" in API group "policy" in the namespace "default"`},

		{"an update that leaves it alone", nil, newBox(t, account), newBox(t, account+", replicas: 2, envs: [{name: A, value: b}]"), nil, ""},
		{"an update that takes it away", nil, newBox(t, account), newBox(t, ""), nil, ""},
		{"an update that changes it", nil, newBox(t, account), newBox(t, "serviceAccountName: admin"), []string{createDeployments}, "spec.serviceAccountName" + noRun},
		{"an update that adds it", nil, newBox(t, ""), newBox(t, account), []string{createDeployments}, "spec.serviceAccountName" + noRun},
		{"an update that adds more", nil, newBox(t, account), newBox(t, account+", podTemplate: {spec: {hostNetwork: true}}"), []string{createDeployments},
			"spec.podTemplate.spec.hostNetwork" + noRun},
		{"elements in another order", nil,
			newBox(t, "volumes: [{name: a, secret: {secretName: a}}, {name: b, secret: {secretName: b}}]"),
			newBox(t, "volumes: [{name: b, secret: {secretName: b}}, {name: a, secret: {secretName: a}}]"), nil, ""},
		{"elements that are swapped", nil,
			newBox(t, "volumes: [{name: a, secret: {secretName: a}}, {name: b, secret: {secretName: b}}]"),
			newBox(t, "volumes: [{name: a, secret: {secretName: b}}, {name: b, secret: {secretName: b}}]"), []string{createDeployments},
			"spec.volumes[0].secret" + noRun},
		{"the port of a node port that gets a name, as it does beside another one", nil,
			newBox(t, nodePort), newBox(t, "ports: [{name: http, port: 80, nodePort: 30010}, {name: more, port: 81}]"), nil, ""},
		{"another port for the node port", nil, newBox(t, nodePort), newBox(t, "ports: [{port: 81, nodePort: 30010}]"), []string{createServices},
			"spec.ports[0].nodePort" + noExpose},
		{"one label more", nil, newBox(t, "labels: {app: payments}"), newBox(t, "labels: {app: payments, team: ''}"), []string{createDeployments, createServices},
			"spec.labels[team]" + noRun + "; spec.labels[team]" + noExpose},
		{"one label less", nil, newBox(t, "labels: {app: payments, team: shop}"), newBox(t, "labels: {app: payments}"), nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			permissions := &permissions{granted: map[string]bool{}}
			for _, permission := range row.granted {
				permissions.granted[permission] = true
			}
			err := validate(t, permissions, row.box, row.old, "")
			switch {
			case row.err == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case row.err != "" && (!apierrors.IsForbidden(err) || err.Error() != forbidden+row.err):
				t.Errorf("got  %v\nwant %s", err, forbidden+row.err)
			}
			if diff := cmp.Diff(row.asked, permissions.asked); diff != "" {
				t.Errorf("asked, -want +got:\n%s", diff)
			}
		})
	}
}

func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	err := validate(t, &permissions{err: errors.New("the cluster is unavailable")}, newBox(t, "serviceAccountName: robot"), nil, "")
	const want = `spec.serviceAccountName: asking the cluster whether user "jane" may create resource "deployments" in API group "apps": the cluster is unavailable`
	if !apierrors.IsServiceUnavailable(err) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := validate(t, &permissions{err: errors.New("the cluster is unavailable")}, newBox(t, ""), nil, ""); err != nil {
		t.Errorf("an ordinary box: %v", err)
	}
}

func TestSubresourcesAndOtherResourcesAreNotAsked(t *testing.T) {
	permissions := &permissions{}
	for _, subresource := range []string{"status", "scale"} {
		if err := validate(t, permissions, newBox(t, "serviceAccountName: robot"), newBox(t, ""), subresource); err != nil {
			t.Errorf("%s: %v", subresource, err)
		}
	}
	plugin := newPlugin()
	plugin.SetUnconditionalAuthorizer(permissions)
	other := admission.NewAttributesRecord(nil, nil, schema.GroupVersionKind{}, "default", "web",
		modelv1.SchemeGroupVersion.WithResource("others"), "", admission.Create, nil, false, &user.DefaultInfo{})
	if err := plugin.Validate(t.Context(), other, nil); err != nil {
		t.Errorf("another resource: %v", err)
	}
	if len(permissions.asked) != 0 {
		t.Errorf("asked: %s", permissions.asked)
	}
}

func TestRefusalsNameSomeFields(t *testing.T) {
	for count, want := range map[int]string{10: "labels[l009]: ", 11: "labels[l009], 1 more: ", 1000: "labels[l009], 990 more: "} {
		var labels []string
		for i := range count {
			labels = append(labels, fmt.Sprintf("l%03d: a", i))
		}
		err := validate(t, &permissions{}, newBox(t, "podTemplate: {metadata: {labels: {"+strings.Join(labels, ", ")+"}}}"), nil, "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d labels: got %v, want %s", count, err, want)
		}
	}
}

func TestThePluginNeedsAnAuthorizer(t *testing.T) {
	if err := newPlugin().ValidateInitialization(); err == nil {
		t.Error("it does without one")
	}
}
