// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// visitFile adds the mutants of all functions and variables of a file.
func (in *instrumentation) visitFile(file *ast.File) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Body != nil {
				in.visit(decl.Body)
			}
		case *ast.GenDecl:
			if decl.Tok == token.VAR {
				in.visit(decl)
			}
		}
	}
}

// visit adds the mutants of a node and of what it contains.
func (in *instrumentation) visit(node ast.Node) {
	ast.Inspect(node, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BlockStmt:
			in.visitList(node.List)
			return false
		case *ast.CaseClause:
			for _, expr := range node.List {
				in.visitCondition(expr)
			}
			in.visitList(node.Body)
			return false
		case *ast.CommClause:
			if node.Comm != nil {
				in.visit(node.Comm)
			}
			in.visitList(node.Body)
			return false
		case ast.Expr:
			if in.isBool(node) && isDecision(node) {
				in.visitCondition(node)
				return false
			}
		case *ast.IfStmt:
			if node.Init != nil {
				in.visit(node.Init)
			}
			in.visitCondition(node.Cond)
			in.visit(node.Body)
			if node.Else != nil {
				in.visit(node.Else)
			}
			return false
		case *ast.ForStmt:
			for _, part := range []ast.Stmt{node.Init, node.Post} {
				if part != nil {
					in.visit(part)
				}
			}
			if node.Cond != nil {
				in.visitCondition(node.Cond)
			}
			in.visit(node.Body)
			return false
		case *ast.ReturnStmt:
			for _, result := range node.Results {
				in.visitCondition(result)
			}
			return false
		}
		return true
	})
}

// visitList adds the mutants of statements: each of them can be left out, unless the function needs it to compile.
func (in *instrumentation) visitList(list []ast.Stmt) {
	for _, stmt := range list {
		if !in.canBeLeftOut(stmt) {
			in.visit(stmt)
			continue
		}
		id := in.add(stmt, "left out")
		in.wrap(stmt, fmt.Sprintf("if !mutantActive(%d) { ", id), " }", func() { in.visit(stmt) })
	}
}

// canBeLeftOut returns whether a statement calls a function or changes a variable. Logs and panics are no behaviour that tests look at.
func (in *instrumentation) canBeLeftOut(stmt ast.Stmt) bool {
	switch stmt := stmt.(type) {
	case *ast.ExprStmt:
		call, isCall := stmt.X.(*ast.CallExpr)
		if !isCall {
			return false
		}
		function := in.text(call.Fun)
		return function != "panic" && !strings.Contains(function, "klog.") && !strings.Contains(function, "logger") &&
			!strings.Contains(function, ".V(")
	case *ast.AssignStmt:
		return stmt.Tok != token.DEFINE && in.text(stmt.Lhs[0]) != "_"
	case *ast.IncDecStmt:
		return true
	default:
		return false
	}
}

// isDecision returns whether an expression compares or combines.
func isDecision(expr ast.Expr) bool {
	binary, ok := ast.Unparen(expr).(*ast.BinaryExpr)
	return ok && (isComparison(binary.Op) || binary.Op == token.LAND || binary.Op == token.LOR)
}

func isComparison(op token.Token) bool {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	default:
		return false
	}
}

// visitCondition adds the mutants of an expression. One of type bool can be the opposite. In place of "and" there can be "or". The limit
// of a comparison can be on its other side.
func (in *instrumentation) visitCondition(expr ast.Expr) {
	if !in.isBool(expr) {
		in.visit(expr)
		return
	}
	if parens, ok := expr.(*ast.ParenExpr); ok {
		in.visitCondition(parens.X)
		return
	}
	binary, isBinary := expr.(*ast.BinaryExpr)
	switch {
	case isBinary && (binary.Op == token.LAND || binary.Op == token.LOR):
		in.visitLogical(binary)
	case isBinary:
		in.visitComparison(binary)
	default:
		in.negate(expr, "", func() { in.visitOperands(expr) })
	}
}

// visitOperands adds the mutants inside of an expression, but not of the expression itself. The opposite of "!x" is x.
func (in *instrumentation) visitOperands(expr ast.Expr) {
	if not, ok := expr.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		if isDecision(not.X) {
			in.visitCondition(not.X)
		} else {
			in.visitOperands(not.X)
		}
		return
	}
	in.visit(expr)
}

func (in *instrumentation) negate(expr ast.Expr, boundary string, visitInside func()) {
	id := in.add(expr, "opposite")
	in.wrap(expr, "((", fmt.Sprintf("%s) != mutantActive(%d))", boundary, id), visitInside)
}

func (in *instrumentation) visitLogical(binary *ast.BinaryExpr) {
	function, change := "mutantAnd", "or"
	if binary.Op == token.LOR {
		function, change = "mutantOr", "and"
	}
	id := in.add(binary, change)
	in.wrap(binary, fmt.Sprintf("%s(%d, ", function, id), ")})", func() {
		in.visitCondition(binary.X)
		in.edits = append(in.edits, edit{offset: in.offset(binary.OpPos), length: len(binary.Op.String()), text: ", func() bool { return ("})
		in.visitCondition(binary.Y)
	})
}

func (in *instrumentation) visitComparison(binary *ast.BinaryExpr) {
	inside := func() {
		in.visit(binary.X)
		in.visit(binary.Y)
	}
	isEqual := in.text(binary.X) + " == " + in.text(binary.Y)
	switch {
	case binary.Op == token.EQL || binary.Op == token.NEQ || calls(binary):
		in.negate(binary, "", inside)
	case binary.Op == token.LSS || binary.Op == token.GTR:
		id := in.add(binary, "boundary")
		in.negate(binary, fmt.Sprintf(" || mutantActive(%d) && %s", id, isEqual), inside)
	default:
		id := in.add(binary, "boundary")
		in.negate(binary, fmt.Sprintf(" && !(mutantActive(%d) && %s)", id, isEqual), inside)
	}
}

// calls returns whether an expression calls a function, except for the length of a value.
func calls(expr ast.Expr) bool {
	found := false
	ast.Inspect(expr, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			if name, isName := call.Fun.(*ast.Ident); !isName || name.Name != "len" {
				found = true
			}
		}
		return !found
	})
	return found
}
