package agent

import (
	"regexp"
	"slices"
	"strings"
)

// tongue is how a language other than English orders something, as words.
type tongue struct {
	orders    []string // verbs that order at the head of a sentence, or of a clause behind one of joiners
	joiners   []string
	leads     []lead   // words before the verb
	others    []string // infinitives: orders behind a polite lead
	last      bool     // they stand at the end of their clause, as in German
	between   []string // words that may stand between the lead and the infinitive, unless last
	questions []string // words that ask, and begin what is only asked about
	negations []string // behind the verb
	except    []string // things that are made in the answer
}

var tongues = []tongue{
	{ // German
		orders: words(`korrigiere korrigier ändere änder füge füg lösche lösch entferne entfern benenne erstelle erstell schreibe schreib behebe beheb
			repariere reparier ersetze ersetz implementiere implementier aktualisiere aktualisier refaktoriere verschiebe verschieb ergänze ergänz
			erweitere erweiter lege leg passe pass tausche tausch modifiziere mach mache baue bau`),
		joiners: words(`und dann danach anschließend`),
		leads: []lead{{"kannst du", true}, {"könntest du", true}, {"würdest du", true}, {"können sie", true}, {"könnten sie", true}, {"würden sie", true},
			{"bitte", true}, {"ich möchte, dass du", true}, {"hilf mir", true}, {"jetzt", false}, {"dann", false}, {"also", false}, {"ok", false}, {"hallo", false}, {"nun", false}, {"zuerst", false}},
		others: words(`korrigieren ändern hinzufügen einfügen löschen entfernen umbenennen erstellen anlegen schreiben beheben reparieren ersetzen implementieren
			aktualisieren refaktorieren verschieben ergänzen erweitern anpassen austauschen modifizieren umschreiben hineinschreiben`),
		last:      true,
		questions: words(`wie was warum wieso weshalb wo wer wen wem welche welcher welches wann ob dass wozu woher wohin`),
		negations: words(`nicht nichts kein keine keinen nie niemals`),
		except:    words(`zusammenfassung übersicht erklärung beschreibung liste tabelle antwort bericht vergleich beispiel beispiele gedicht überblick satz sätze absatz`),
	},
	{ // French
		orders: words(`corrige corrigez ajoute ajoutez supprime supprimez modifie modifiez change changez renomme renommez crée créez cree écris écrivez ecris
			remplace remplacez implémente implémentez mets mettez efface effacez retire retirez enlève enlevez répare réparez refactorise refactorisez
			déplace déplacez réécris réécrivez insère insérez`),
		joiners: words(`et puis ensuite`),
		leads: []lead{{"s'il te plaît", true}, {"s'il vous plaît", true}, {"stp", true}, {"svp", true}, {"peux-tu", true}, {"pouvez-vous", true}, {"pourrais-tu", true},
			{"pourriez-vous", true}, {"tu peux", true}, {"tu pourrais", true}, {"merci de", true}, {"veuillez", true}, {"aide-moi à", true}, {"il faut", true}, {"j'aimerais", true},
			{"maintenant", false}, {"alors", false}, {"ensuite", false}, {"puis", false}, {"d'abord", false}, {"ok", false}, {"bonjour", false}},
		others: words(`corriger ajouter supprimer modifier changer renommer créer écrire remplacer implémenter mettre effacer retirer enlever réparer refactoriser
			déplacer réécrire insérer`),
		between:   words(`me le la les y en nous`),
		questions: words(`comment pourquoi où qui que quoi quel quelle quels quelles quand combien est-ce qu'est-ce`),
		negations: words(`pas rien jamais aucun aucune`),
		except:    words(`résumé aperçu explication description liste tableau réponse rapport comparaison exemple exemples poème phrase paragraphe`),
	},
	{ // Spanish
		orders: words(`corrige corrija arregla arregle añade añada agrega agregue elimina elimine borra borre cambia cambie modifica modifique renombra renombre
			crea cree escribe escriba reemplaza reemplace sustituye sustituya implementa implemente actualiza actualice refactoriza refactorice inserta inserte
			quita quite mueve mueva reescribe reescriba`),
		joiners: words(`y luego después`),
		leads: []lead{{"por favor", true}, {"puedes", true}, {"podrías", true}, {"puede", true}, {"podría", true}, {"me puedes", true}, {"ayúdame a", true}, {"hay que", true},
			{"quiero", true}, {"necesito", true}, {"ahora", false}, {"luego", false}, {"entonces", false}, {"primero", false}, {"ok", false}, {"hola", false}},
		others: words(`corregir arreglar añadir agregar eliminar borrar cambiar modificar renombrar crear escribir reemplazar sustituir implementar actualizar
			refactorizar insertar quitar mover reescribir`),
		between:   words(`me lo la los las nos`),
		questions: words(`cómo qué dónde por quién cuál cuáles cuándo cuánto como donde si`),
		negations: words(`nada nunca ningún ninguna`),
		except:    words(`resumen descripción explicación lista tabla respuesta informe comparación ejemplo ejemplos poema frase párrafo`),
	},
	{ // Portuguese
		orders: words(`corrige corrija conserte conserta adicione adiciona acrescente acrescenta remova remove apague apaga exclua exclui altere altera mude muda
			modifique modifica renomeie renomeia crie cria escreva escreve substitua substitui implemente implementa atualize atualiza refatore refatora
			insira insere mova move reescreva reescreve arrume arruma troque troca`),
		joiners: words(`e depois`),
		leads: []lead{{"por favor", true}, {"você pode", true}, {"você poderia", true}, {"podes", true}, {"pode", true}, {"poderia", true}, {"podias", true}, {"me ajude a", true},
			{"preciso", true}, {"quero", true}, {"agora", false}, {"depois", false}, {"então", false}, {"primeiro", false}, {"ok", false}, {"olá", false}},
		others: words(`corrigir consertar adicionar acrescentar remover apagar excluir alterar mudar modificar renomear criar escrever substituir implementar
			atualizar refatorar inserir mover reescrever arrumar trocar`),
		between:   words(`me o a os as nos`),
		questions: words(`como que onde por quem qual quais quando quanto porque se`),
		negations: words(`nada nunca nenhum nenhuma`),
		except:    words(`resumo descrição explicação lista tabela resposta relatório comparação exemplo exemplos poema frase parágrafo`),
	},
}

func words(s string) []string { return strings.Fields(s) }

// order finds the verb by which a sentence orders something.
func (g *tongue) order(s sentence) string {
	at, polite := s.skip(0, g.leads)
	if at >= len(s.words) || s.question && !polite || slices.Contains(g.questions, s.words[at].text) {
		return ""
	}
	if v := s.words[at].text; slices.Contains(g.orders, v) || polite && slices.Contains(g.others, v) && !g.last {
		return g.unless(s, at)
	}
	if polite {
		if i := g.infinitive(s, at); i >= 0 {
			return g.unless(s, i)
		}
	}
	for i := at + 1; i < len(s.words); i++ {
		switch {
		case slices.Contains(g.questions, s.words[i].text):
			return ""
		case slices.Contains(g.joiners, s.words[i-1].text) && slices.Contains(g.orders, s.words[i].text):
			return g.unless(s, i)
		}
	}
	return ""
}

// infinitive is the place of the infinitive that a polite lead asks for; -1 is none.
func (g *tongue) infinitive(s sentence, at int) int {
	for i := at; i < len(s.words); i++ {
		w := s.words[i]
		switch {
		case slices.Contains(g.questions, w.text):
			return -1
		case !slices.Contains(g.others, w.text):
		case !g.last || i == len(s.words)-1 || w.pause || slices.Contains(g.joiners, s.words[i+1].text):
			return i
		}
		if !g.last && !slices.Contains(g.between, w.text) {
			return -1
		}
	}
	return -1
}

// foreign are words of English, whose verbs some of these languages share.
var foreign = []string{"nothing", "anything", "none"}

// unless is the verb at a place, "" where it is negated or its object is part of
// the answer.
func (g *tongue) unless(s sentence, at int) string {
	near := s.words[max(at-3, 0):min(at+7, len(s.words))]
	for _, w := range near {
		if slices.Contains(g.negations, w.text) || slices.Contains(foreign, w.text) {
			return ""
		}
	}
	made := slices.ContainsFunc(s.words, func(w word) bool { return slices.Contains(g.except, w.text) })
	if made && !slices.ContainsFunc(s.words, func(w word) bool { return w.file }) {
		return ""
	}
	return s.words[at].text
}

// script is how a language without blanks between its words orders something, as
// expressions over a sentence.
type script struct {
	order    *regexp.Regexp // group 1 is the verb
	polite   *regexp.Regexp // a question that asks somebody to do it
	question *regexp.Regexp
	negation *regexp.Regexp
	except   *regexp.Regexp
}

var scripts = []script{
	{ // Chinese
		order: regexp.MustCompile(`^(?:请你?|麻烦你?|帮我|帮忙|给我|你|能不能|能否|可以|可否|能|我想让你|我要你|现在|然后|接着|首先|先|再|最后|好的?|也|并|[，,、：:\s])*` +
			`(?:(?:把|将|在|给|为|对|从)[^，,、]{1,40}?)?(修复|修改|修正|改成|改为|改名|改|删除|删掉|移除|添加|加上|增加|新增|创建|新建|重命名|重构|重写|编写|写|更新|替换|换成|实现|插入|移动)`),
		polite:   regexp.MustCompile(`^(?:请|麻烦|(?:能不能|能否|可否|可以|能)(?:请|帮|你)|你(?:能不能|能否|可以|能))`),
		question: regexp.MustCompile(`[?？]$|吗|呢|如何|怎么|怎样|为什么|为何|什么|哪|谁|多少|是否|有没有|是不是`),
		negation: regexp.MustCompile(`不要|(?:^|[请，,、\s])别|勿|不用|不必|无需|(?:^|[^能])不能|没有`),
		except:   regexp.MustCompile(`总结|摘要|概述|说明|列表|表格|报告|比较|例子|示例|首诗|解释`),
	},
	{ // Japanese
		order: regexp.MustCompile(`((?:修正|追加|削除|変更|作成|更新|実装|置換|リファクタリング|リファクタ|改名|リネーム|挿入|移動|除去)(?:を)?(?:して|しろ|せよ|お願い|頼む)|` +
			`(?:直し|消し|書き換え|書き直し|置き換え|作っ|変え|加え|足し|取り除い|外し|書い)て)` +
			`(?:おいて|ください|下さい|くれ|ほしい|欲しい|もらえますか|もらえる|もらえませんか|くれますか|くれませんか|くれる|いただけますか|いただけませんか|します|ね|よ)*[。.!！?？\s]*$`),
		polite:   regexp.MustCompile(`(?:もらえますか|もらえる|もらえませんか|くれますか|くれませんか|くれる|いただけますか|いただけませんか)[?？\s]*$`),
		question: regexp.MustCompile(`[?？]$|何|なに|どこ|どう|なぜ|いつ|誰|どの|どれ|どんな|ですか|ますか$`),
		negation: regexp.MustCompile(`ないで|せずに|ずに|しません`),
		except:   regexp.MustCompile(`要約|まとめ|説明|一覧|表を|例を|レポート|俳句|比較`),
	},
}

var (
	ends     = regexp.MustCompile(`[^。！!；;\n？?]+[。！!；;？?]?`)
	filename = regexp.MustCompile(`[\w/-]+\.\w+|[A-Z]{4,}`)
)

// find gives the verb by which a question orders something.
func (g *script) find(question string) string {
	for _, s := range ends.FindAllString(quoted.ReplaceAllString(question, " "), -1) {
		s = strings.TrimSpace(s)
		m := g.order.FindStringSubmatch(s)
		asked := g.question.MatchString(strings.TrimRight(s, "。！!；; ")) && !g.polite.MatchString(s)
		if m == nil || asked || g.negation.MatchString(s) || g.except.MatchString(s) && !filename.MatchString(s) {
			continue
		}
		return m[1]
	}
	return ""
}

// elsewhere finds an order in a language other than English.
func elsewhere(question string) string {
	for i := range scripts {
		if v := scripts[i].find(question); v != "" {
			return v
		}
	}
	for _, s := range sentences(question) {
		for i := range tongues {
			if v := tongues[i].order(s); v != "" {
				return v
			}
		}
	}
	return ""
}
