// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// validateNoCycles refuses components that wait for each other, with one cycle for each component that closes one.
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

// visitState is how far the search is with a component.
type visitState int

const (
	unvisited visitState = iota
	// onTrail is a component whose dependencies are being looked at.
	onTrail
	visited
)

// cycleSearch goes through the dependencies depth first.
type cycleSearch struct {
	components []model.ModelStackComponent
	path       *field.Path
	indexes    map[string]int
	states     []visitState
	// trail leads to the component that is looked at, each depending on the next.
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
		case !isKnown || dependency == i: // is another error
		case s.states[dependency] == onTrail:
			cycle := append(slices.Clone(s.trail[slices.Index(s.trail, name):]), name)
			s.errs = append(s.errs, field.Invalid(s.path.Index(i).Child("dependsOn").Index(j), name,
				"makes components wait for each other: "+strings.Join(cycle, " → ")))
		default:
			s.visit(dependency)
		}
	}
	s.trail = s.trail[:len(s.trail)-1]
	s.states[i] = visited
}
