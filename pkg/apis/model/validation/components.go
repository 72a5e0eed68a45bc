// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateComponents validates what the components of a stack are to each other.
func validateComponents(stack *model.ModelStack, path *field.Path) field.ErrorList {
	components := stack.Spec.Components
	var errs field.ErrorList
	for i := range validate.Each(components, &errs) {
		errs = append(errs, validateComponent(&components[i], path.Index(i))...)
	}
	return slices.Concat(
		errs,
		validateChildNames(components, path),
		validateDependencies(components, path),
		validateNoCycles(components, path),
	)
}

// validateComponentsUpdate is validateComponents of a stack that replaces old, without what was wrong already.
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
	// What is in a box is validated as that of a box.
	box := validate.MemberOf("box", component.Box, func(*model.ModelBoxSpec, *field.Path) field.ErrorList { return nil })
	external := validate.MemberOf("external", component.External, validateExternal)
	return slices.Concat(
		validateComponentName(component.Name, path.Child("name")),
		validateComponentName(component.BoxName, path.Child("boxName")),
		validate.ExactlyOneOf([]validate.Member{box, external}, path),
	)
}

// validateComponentName validates what is the name of a box, of a Service or the start of the names of variables. A missing
// name is a matter of other rules.
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

// validateHost validates a host as what a Service or an EndpointSlice can lead to. A missing one is a matter of other rules.
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
		errs = append(errs, field.Invalid(path, host, "must be an IP address or a DNS name, and is neither"))
	}
	return errs
}

// looksLikeIPv4 returns whether a name has digits and dots only, which no name that can be looked up has.
func looksLikeIPv4(host string) bool {
	return !slices.ContainsFunc([]byte(host), func(c byte) bool { return c != '.' && (c < '0' || c > '9') })
}

// validateEndpointAddress refuses the addresses that Kubernetes does not take for an endpoint.
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

// maxVariables is how many environment variables a container may have.
var maxVariables = maxima["ModelBoxSpec.envs"]

// variablesOfDependency are how many variables a component gets for each other that it depends on.
const variablesOfDependency = 3

// variablesOf returns how many variables the container of a box has at most.
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

// validateDependencies validates what the components depend on: others of the stack that can be connected to.
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
				errs = append(errs, field.Invalid(path, name, "a component cannot depend on itself"))
			case !isKnown:
				errs = append(errs, field.NotFound(path, name))
			case dependency.Box != nil && len(dependency.Box.Ports) == 0:
				errs = append(errs, field.Invalid(path, name, "has no ports to connect to"))
			}
		}
		if count := variablesOf(component.Box) + variablesOfDependency*len(component.DependsOn); count > maxVariables {
			detail := fmt.Sprintf("gives a container %d environment variables with its own ones: must have at most %d", count, maxVariables)
			errs = append(errs, field.Invalid(path, field.OmitValueType{}, detail))
		}
	}
	return errs
}
