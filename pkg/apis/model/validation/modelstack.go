// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// ValidateModelStackName returns what is wrong with the name of a stack, or with the start of a generated name if prefix
// is true. The names of boxes begin with it, so it must be a DNS-1035 label.
func ValidateModelStackName(name string, prefix bool) []string {
	return apivalidation.NameIsDNS1035Label(name, prefix)
}

// ValidateStackLimits returns an error for each list, map and string of a stack and of its boxes that is too large. It costs
// little, and the cost of the other rules is limited for a stack that it accepts.
func ValidateStackLimits(stack *model.ModelStack) field.ErrorList {
	return findExcesses(&stack.ObjectMeta, &stack.Spec).errors(nil)
}

// ValidateStackLimitsUpdate is ValidateStackLimits for an update of old. A value that is too large in old may stay, but not grow.
func ValidateStackLimitsUpdate(stack, old *model.ModelStack) field.ErrorList {
	return findExcesses(&stack.ObjectMeta, &stack.Spec).newErrors(func() excesses { return findExcesses(&old.ObjectMeta, &old.Spec) })
}

// ValidateModelStack validates a new stack, except its boxes.
func ValidateModelStack(ctx context.Context, stack *model.ModelStack) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMeta(&stack.ObjectMeta, true, ValidateModelStackName, field.NewPath("metadata")),
		corevalidation.ValidateFinalizerNames(stack.Finalizers, field.NewPath("metadata", "finalizers")),
		validateAnnotations(stack.Annotations, field.NewPath("metadata", "annotations")),
		validateDeclaredStackSpec(ctx, &stack.Spec, nil, field.NewPath("spec")),
		validateComponents(stack, field.NewPath("spec", "components")),
	)
}

// ValidateModelStackUpdate validates an update of old to stack, except its boxes. An error that old has as well is left out.
func ValidateModelStackUpdate(ctx context.Context, stack, old *model.ModelStack) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&stack.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateFinalizersUpdate(stack.Finalizers, old.Finalizers, field.NewPath("metadata", "finalizers")),
		validateAnnotationsUpdate(stack.Annotations, old.Annotations, field.NewPath("metadata", "annotations")),
		validateDeclaredStackSpec(ctx, &stack.Spec, &old.Spec, field.NewPath("spec")),
		validateComponentsUpdate(stack, old, field.NewPath("spec", "components")),
	)
}

// ValidateModelStackStatusUpdate validates an update of the status. It does not validate the spec, so that the controller can write
// the status of every stack.
func ValidateModelStackStatusUpdate(ctx context.Context, stack, old *model.ModelStack) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&stack.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateDeclared(ctx, &stack.Status, &old.Status,
			modelv1.Convert_model_ModelStackStatus_To_v1_ModelStackStatus, modelv1.Validate_ModelStackStatus, field.NewPath("status")),
		metav1validation.ValidateConditions(stack.Status.Conditions, field.NewPath("status", "conditions")),
	)
}

func validateDeclaredStackSpec(ctx context.Context, spec, old *model.ModelStackSpec, path *field.Path) field.ErrorList {
	return validateDeclared(ctx, spec, old, modelv1.Convert_model_ModelStackSpec_To_v1_ModelStackSpec, modelv1.Validate_ModelStackSpec, path)
}

// validateComponents validates each component, their names, and their dependencies.
func validateComponents(stack *model.ModelStack, path *field.Path) field.ErrorList {
	components := stack.Spec.Components
	var errs field.ErrorList
	for i := range validate.Each(components, &errs) {
		errs = append(errs, validateComponent(&components[i], path.Index(i))...)
	}
	return slices.Concat(
		errs,
		validateChildNames(&stack.Spec, path),
		validateDependencies(components, path),
		validateNoCycles(components, path),
	)
}

// validateComponentsUpdate is validateComponents for an update of old. An error that old has as well is left out.
func validateComponentsUpdate(stack, old *model.ModelStack, path *field.Path) field.ErrorList {
	errs := validateComponents(stack, path)
	if len(errs) == 0 {
		return nil
	}
	var served, servedOld modelv1.ModelStackSpec
	for spec, served := range map[*model.ModelStackSpec]*modelv1.ModelStackSpec{&stack.Spec: &served, &old.Spec: &servedOld} {
		if err := modelv1.Convert_model_ModelStackSpec_To_v1_ModelStackSpec(spec, served, nil); err != nil {
			return field.ErrorList{field.InternalError(path, err)}
		}
	}
	return Ratchet(field.NewPath("spec"), &served, &servedOld, errs, validateComponents(old, path))
}

func validateComponent(component *model.ModelStackComponent, path *field.Path) field.ErrorList {
	// The strategy of stacks validates the box.
	box := validate.MemberOf("box", component.Box, func(*model.ModelBoxSpec, *field.Path) field.ErrorList { return nil })
	external := validate.MemberOf("external", component.External, validateExternal)
	return slices.Concat(
		validateComponentName(component.Name, path.Child("name")),
		validateComponentName(component.BoxName, path.Child("boxName")),
		validate.ExactlyOneOf([]validate.Member{box, external}, path),
	)
}

// validateComponentName validates the name of a component or of its box. Services have this name, and environment variables begin
// with it. Another rule requires that there is a name.
func validateComponentName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1035Label(name) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	return errs
}

func validateExternal(external *model.ModelStackExternal, path *field.Path) field.ErrorList {
	errs := validateHost(external.Host, path.Child("host"))
	for _, msg := range validation.IsValidPortNum(int(external.Port)) {
		errs = append(errs, field.Invalid(path.Child("port"), external.Port, msg))
	}
	return errs
}

// validateHost requires a name for a Service of type ExternalName, or an address for an EndpointSlice. Another rule requires that
// there is a host.
func validateHost(host string, path *field.Path) field.ErrorList {
	if host == "" {
		return nil
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return append(validation.IsValidIP(path, host), validateEndpointAddress(host, path)...)
	}
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1123Subdomain(host) {
		errs = append(errs, field.Invalid(path, host, msg))
	}
	if len(errs) == 0 && looksLikeIPv4(host) {
		errs = append(errs, field.Invalid(path, host, mustBeAddressOrName))
	}
	return errs
}

// looksLikeIPv4 returns whether a name consists of digits and dots. DNS has no such name.
func looksLikeIPv4(host string) bool {
	return !slices.ContainsFunc([]byte(host), func(c byte) bool { return c != '.' && (c < '0' || c > '9') })
}

// validateEndpointAddress refuses the addresses that Kubernetes refuses for an endpoint.
func validateEndpointAddress(host string, path *field.Path) field.ErrorList {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	var is string
	switch {
	case address.IsUnspecified():
		is = "may not be the unspecified address"
	case address.IsLoopback():
		is = "may not be in the loopback range"
	case address.IsLinkLocalUnicast():
		is = "may not be in the link-local range"
	case address.IsLinkLocalMulticast():
		is = "may not be in the link-local multicast range"
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(path, host, is)}
}

// maxVariables is the maximum number of environment variables of a container.
var maxVariables = maxima["ModelBoxSpec.envs"]

// variablesOfDependency is the number of environment variables that a component gets for each of its dependencies.
const variablesOfDependency = 3

// variablesOf returns the largest number of environment variables of a container of the box.
func variablesOf(box *model.ModelBoxSpec) int {
	if box == nil {
		return 0
	}
	count := len(box.Envs)
	for _, containers := range [][]corev1.Container{box.Containers, box.InitContainers} {
		for i := range containers {
			count = max(count, len(containers[i].Env))
		}
	}
	return count
}

// validateDependencies requires that components depend on other components of the stack that have ports, or that are Jobs.
func validateDependencies(components []model.ModelStackComponent, path *field.Path) field.ErrorList {
	byName := make(map[string]*model.ModelStackComponent, len(components))
	for i := range components {
		byName[components[i].Name] = &components[i]
	}
	var errs field.ErrorList
	for i := range validate.Each(components, &errs) {
		component, path := &components[i], path.Index(i).Child("dependsOn")
		for j, name := range validate.Each(component.DependsOn, &errs) {
			dependency, isKnown := byName[name]
			switch path := path.Index(j); {
			case name == component.Name:
				errs = append(errs, field.Invalid(path, name, mustNotDependOnItself))
			case !isKnown:
				errs = append(errs, field.NotFound(path, name))
			case dependency.Box != nil && len(dependency.Box.Ports) == 0 && dependency.Box.Workload != model.WorkloadJob:
				errs = append(errs, field.Invalid(path, name, MustHavePortsToConnect))
			}
		}
		if count := variablesOf(component.Box) + variablesOfDependency*len(component.DependsOn); count > maxVariables {
			errs = append(errs, field.Invalid(path, field.OmitValueType{}, mustHaveFewerVariables(count)))
		}
	}
	return errs
}

// childName is the kind and the name of a child of a component.
type childName struct{ kind, name string }

// validateChildNames refuses components with the same box name, and components that would have the same child.
func validateChildNames(spec *model.ModelStackSpec, path *field.Path) field.ErrorList {
	components, isIsolated := spec.Components, ptr.Deref(spec.Isolate, false)
	names := validate.Unique[string]{}
	owners := map[childName]int{}
	var errs field.ErrorList
	for i := range validate.Each(components, &errs) {
		component, path := &components[i], path.Index(i)
		if duplicates := names.Add(component.BoxName, path.Child("boxName")); len(duplicates) > 0 {
			errs = append(errs, duplicates...)
			continue
		}
		forEachChildName(component, isIsolated, path, func(child childName, path *field.Path) {
			owner, isTaken := owners[child]
			switch {
			case !isTaken:
				owners[child] = i
			case owner != i: // The rules for boxes are about children of the same box.
				duplicate := field.Duplicate(path, child.name)
				duplicate.Detail = MustNotShareChild(components[owner].Name, child.kind)
				errs = append(errs, duplicate)
			}
		})
	}
	return errs
}

// forEachChildName calls found with each child of the component at path, except its box, and with the path of the field that names
// the child.
func forEachChildName(component *model.ModelStackComponent, isIsolated bool, path *field.Path, found func(childName, *field.Path)) {
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
	if box.Workload == "" || box.Workload == model.WorkloadDeployment {
		found(childName{"Deployment", component.BoxName}, path.Child("boxName"))
		forEachCandidateName(component, path.Child("box", "rollout", "type"), found)
	}
	if isIsolated || box.NetworkPolicy != nil {
		found(childName{"NetworkPolicy", component.BoxName}, path.Child("boxName"))
		if box.Before != nil || box.After != nil {
			found(childName{"NetworkPolicy", helper.JobsNetworkPolicyName(component.BoxName)}, path.Child("box", "networkPolicy"))
		}
	}
	for i := range box.Configs {
		name := component.BoxName
		if config := &box.Configs[i]; config.Name != "" {
			name += "-" + config.Name
		}
		found(childName{"ConfigMap", name}, path.Child("box", "configs").Index(i).Child("name"))
	}
	for i := range box.Storage {
		if !isStatefulSet { // The claims of a StatefulSet have the number of a pod in their names.
			found(childName{"PersistentVolumeClaim", component.BoxName + "-" + box.Storage[i].Name}, path.Child("box", "storage").Index(i).Child("name"))
		}
	}
}

// forEachCandidateName calls found with the children that a Deployment has while its rollout is in steps, with the path of the type of
// its rollouts.
func forEachCandidateName(component *model.ModelStackComponent, path *field.Path, found func(childName, *field.Path)) {
	box, name := component.Box, helper.CandidateName(component.BoxName)
	if box.Rollout == nil || box.Rollout.Type == nil {
		return
	}
	found(childName{"Deployment", name}, path)
	if len(box.Ports) > 0 && (*box.Rollout.Type == model.RolloutBlueGreen || box.IsRouted()) {
		found(childName{"Service", name}, path)
	}
}

// validateNoCycles refuses components that wait for each other. It returns an error for each dependency that closes a cycle.
func validateNoCycles(components []model.ModelStackComponent, path *field.Path) field.ErrorList {
	s := &cycleSearch{components: components, path: path, indexes: make(map[string]int, len(components)), states: make([]visitState, len(components))}
	for i := range components {
		s.indexes[components[i].Name] = i
	}
	for i := range components {
		s.visit(i)
	}
	return s.errs
}

// visitState is the state of a component in the search.
type visitState int

const (
	unvisited visitState = iota
	// onTrail is the state of a component while the search is at its dependencies.
	onTrail
	visited
)

// cycleSearch visits the dependencies depth first.
type cycleSearch struct {
	components []model.ModelStackComponent
	path       *field.Path
	indexes    map[string]int
	states     []visitState
	// trail has the components between the first one and the current one. Each depends on the next.
	trail []string
	errs  field.ErrorList
}

func (s *cycleSearch) visit(i int) {
	if s.states[i] != unvisited {
		return
	}
	component := &s.components[i]
	s.states[i] = onTrail
	s.trail = append(s.trail, component.Name)
	for j, name := range component.DependsOn {
		dependency, isKnown := s.indexes[name]
		switch {
		case !isKnown || dependency == i: // validateDependencies returns an error.
		case s.states[dependency] == onTrail:
			cycle := append(slices.Clone(s.trail[slices.Index(s.trail, name):]), name)
			s.errs = append(s.errs, field.Invalid(s.path.Index(i).Child("dependsOn").Index(j), name, MustNotCycle(cycle)))
		default:
			s.visit(dependency)
		}
	}
	s.trail = s.trail[:len(s.trail)-1]
	s.states[i] = visited
}
