// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// childName is the name of an object that a box comes to have, or a component without one.
type childName struct{ kind, name string }

// validateChildNames refuses components of one name, and components that would have the same object.
func validateChildNames(components []model.ModelStackComponent, path *field.Path) field.ErrorList {
	names := validate.Unique[string]{}
	owners := map[childName]int{}
	var errs field.ErrorList
	for i := range validate.Each(components, &errs) {
		component, path := &components[i], path.Index(i)
		if duplicates := names.Add(component.BoxName, path.Child("boxName")); len(duplicates) > 0 {
			errs = append(errs, duplicates...)
			continue
		}
		forEachChildName(component, path, func(child childName, path *field.Path) {
			owner, isTaken := owners[child]
			switch {
			case !isTaken:
				owners[child] = i
			case owner != i: // within a box it is a matter of the rules for boxes
				duplicate := field.Duplicate(path, child.name)
				duplicate.Detail = fmt.Sprintf("component %s has a %s of this name already", components[owner].Name, child.kind)
				errs = append(errs, duplicate)
			}
		})
	}
	return errs
}

// forEachChildName calls found with the objects beside its box that the component, at path, comes to have, and with what
// gives the name.
func forEachChildName(component *model.ModelStackComponent, path *field.Path, found func(childName, *field.Path)) {
	box := component.Box
	if box == nil || len(box.Ports) > 0 {
		found(childName{"Service", component.BoxName}, path.Child("boxName"))
	}
	if box == nil {
		return
	}
	isStatefulSet := box.Workload == model.WorkloadStatefulSet
	if isStatefulSet && len(box.Ports) > 0 && box.ServiceType != model.ServiceTypeHeadless {
		found(childName{"Service", component.BoxName + "-headless"}, path.Child("boxName"))
	}
	for i := range box.Configs {
		name := component.BoxName
		if config := &box.Configs[i]; config.Name != "" {
			name += "-" + config.Name
		}
		found(childName{"ConfigMap", name}, path.Child("box", "configs").Index(i).Child("name"))
	}
	for i := range box.Storage {
		if !isStatefulSet { // whose claims have the number of a pod
			found(childName{"PersistentVolumeClaim", component.BoxName + "-" + box.Storage[i].Name}, path.Child("box", "storage").Index(i).Child("name"))
		}
	}
}
