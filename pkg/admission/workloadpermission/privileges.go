// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// privilege is something about a box that is beyond an ordinary application.
type privilege struct {
	// path is where it is said.
	path *field.Path
	// id is the path, with keys in place of indexes, and the value: the same after an update that leaves it alone.
	id string
	// permissions are those that it needs, all of them.
	permissions []permission
}

// newPrivileges returns the privileges of a box, whose spec is at path, that the old one does not have. There is none before
// a creation.
func newPrivileges(box, old *model.ModelBox, path *field.Path) ([]privilege, error) {
	if old != nil && apiequality.Semantic.DeepEqual(old.Spec, box.Spec) && isAdoptionRequested(old) == isAdoptionRequested(box) {
		return nil, nil
	}
	privileges, err := privilegesOf(box, path)
	if err != nil || len(privileges) == 0 || old == nil {
		return privileges, err
	}
	before, err := privilegesOf(old, path)
	if err != nil {
		return nil, err
	}
	return without(privileges, before), nil
}

// without returns the privileges that are not among those that there were before.
func without(privileges, before []privilege) []privilege {
	had := make(map[string]bool, len(before))
	for _, privilege := range before {
		had[privilege.id] = true
	}
	return slices.DeleteFunc(privileges, func(privilege privilege) bool { return had[privilege.id] })
}

// privilegesOf returns the privileges of a box, whose spec is at path, in the order of their fields' names.
func privilegesOf(box *model.ModelBox, path *field.Path) ([]privilege, error) {
	served, err := boxview.V1(box)
	if err != nil {
		return nil, err
	}
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&served.Spec)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of the box: %w", err)
	}
	w := &walk{}
	w.visit(ordinarySpec, spec, path, path, nil)
	if w.err != nil {
		return nil, w.err
	}
	privileges := append(adoptions(served), w.privileges...)
	resource := workloadResource(served.Spec.Workload)
	for i := range privileges {
		privileges[i].permissions = forWorkload(privileges[i].permissions, resource)
	}
	return privileges, nil
}

// adoptions are the privileges over what has the names of the box's children already.
func adoptions(box *modelv1.ModelBox) []privilege {
	if box.Annotations[modelv1.AdoptAnnotation] != "true" {
		return nil
	}
	path := field.NewPath("metadata", "annotations").Key(modelv1.AdoptAnnotation)
	adopted := []privilege{{path, workloads.Resource, toAdopt(workloads, box.Name)}}
	if len(box.Spec.Ports) > 0 {
		adopted = append(adopted, privilege{path, services.Resource, toAdopt(services, box.Name)})
	}
	if name := modelboxrender.GoverningServiceName(box); modelboxrender.HasHeadlessService(box) {
		adopted = append(adopted, privilege{path, services.Resource + "/" + name, toAdopt(services, name)})
	}
	if rollout := box.Spec.Rollout; rollout != nil && rollout.Type != nil && box.Spec.Workload == modelv1.WorkloadDeployment {
		name := helper.CandidateName(box.Name)
		adopted = append(adopted, privilege{path, workloads.Resource + "/" + name, toAdopt(workloads, name)})
		if modelboxrender.SplitsTraffic(box) {
			adopted = append(adopted, privilege{path, services.Resource + "/" + name, toAdopt(services, name)})
		}
	}
	for i := range box.Spec.Configs {
		name := modelboxrender.ConfigMapName(box, &box.Spec.Configs[i])
		adopted = append(adopted, privilege{path, configMaps.Resource + "/" + name, toAdopt(configMaps, name)})
	}
	if box.Spec.Ingress != nil {
		adopted = append(adopted, privilege{path, ingresses.Resource, toAdopt(ingresses, box.Name)})
	}
	if box.Spec.Route != nil {
		adopted = append(adopted, privilege{path, httpRoutes.Resource, toAdopt(httpRoutes, box.Name)})
	}
	if box.Spec.GRPCRoute != nil {
		adopted = append(adopted, privilege{path, grpcRoutes.Resource, toAdopt(grpcRoutes, box.Name)})
	}
	if box.Spec.Autoscaling != nil {
		adopted = append(adopted, privilege{path, autoscalers.Resource, toAdopt(autoscalers, box.Name)})
	}
	if box.Spec.DisruptionBudget != nil {
		adopted = append(adopted, privilege{path, disruptionBudgets.Resource, toAdopt(disruptionBudgets, box.Name)})
	}
	if box.Spec.NetworkPolicy != nil {
		adopted = append(adopted, privilege{path, networkPolicies.Resource, toAdopt(networkPolicies, box.Name)})
		if name := helper.JobsNetworkPolicyName(box.Name); box.Spec.Before != nil || box.Spec.After != nil {
			adopted = append(adopted, privilege{path, networkPolicies.Resource + "/" + name, toAdopt(networkPolicies, name)})
		}
	}
	if box.Spec.Workload == modelv1.WorkloadStatefulSet {
		return adopted // which has no claims itself: its pods do, and use those that there are
	}
	for i := range box.Spec.Storage {
		name := helper.ClaimName(box.Name, box.Spec.Storage[i].Name)
		adopted = append(adopted, privilege{path, claims.Resource + "/" + name, toAdopt(claims, name)})
	}
	return adopted
}

func isAdoptionRequested(owner metav1.Object) bool {
	return owner.GetAnnotations()[modelv1.AdoptAnnotation] == "true"
}

// walk goes through the fields of a box.
type walk struct {
	privileges []privilege
	err        error
}

// visit looks for privileges in the value of a field. id is its path with keys in place of indexes. permissions are the permissions
// of the field that contains it.
func (w *walk) visit(ordinary rule, value any, path, id *field.Path, permissions []permission) {
	if ordinary.permissions != nil {
		permissions = ordinary.permissions
	}
	if ordinary.any || isUnset(value) || slices.Contains(ordinary.values, value) {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if ordinary.fields == nil && !ordinary.isMap {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if _, isKnown := ordinary.fields[key]; ordinary.isMap && !isKnown {
				w.found(value[key], path.Key(key), id.Key(key), permissions) // an empty label is one
				continue
			}
			w.visit(ordinary.fields[key], value[key], path.Child(key), id.Child(key), permissions)
		}
		return
	case []any:
		if ordinary.fields == nil && ordinary.values == nil {
			break
		}
		for i, element := range value {
			w.visit(ordinary, element, path.Index(i), id.Key(mergeKey(element)), permissions)
		}
		return
	}
	w.found(value, path, id, permissions)
}

func (w *walk) found(value any, path, id *field.Path, permissions []permission) {
	data, err := json.Marshal(value)
	if err != nil {
		w.err = fmt.Errorf("encoding %s: %w", path, err)
		return
	}
	w.privileges = append(w.privileges, privilege{path, id.String() + "=" + string(data), permissions})
}

// isUnset returns whether a value says no more than its absence. An empty object may: it is a selector of everything.
func isUnset(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case bool:
		return !value
	case string:
		return value == ""
	case int64:
		return value == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// mergeKey returns by what an element of a list is known after an update; empty where by nothing but its value. The
// names of ports come and go: they are filled in where there are several.
func mergeKey(element any) string {
	fields, _ := element.(map[string]any)
	for _, name := range []string{"port", "containerPort"} {
		if port, ok := fields[name]; ok {
			return fmt.Sprintf("%v/%v", port, fields["protocol"])
		}
	}
	name, _ := fields["name"].(string)
	return name
}
